type Context = Readonly<Record<string, unknown>>
type Text = (ctx: Context) => readonly [en: string, zh: string]

/** The faults of a request by the code of the API, in people's words: its own text is that of a library, for programs. */
const texts: Readonly<Record<string, Text>> = {
  missing: () => ['is missing', '缺失'],
  string_type: () => ['must be a text', '应为文本'],
  int_type: () => ['must be a whole number', '应为整数'],
  float_type: () => ['must be a number', '应为数字'],
  bool_type: () => ['must be yes or no', '应为是或否'],
  list_type: () => ['must be a list', '应为列表'],
  dict_type: () => ['must have named parts', '应为带名称的各项'],
  none_required: () => ['must be empty', '应为空'],
  string_too_short: ({ min_length: n }) =>
    n === 1 ? ['must not be empty', '不能为空'] : [`needs ${n} characters`, `至少 ${n} 个字符`],
  string_too_long: ({ max_length: n }) => [`may have ${n} characters at most`, `最多 ${n} 个字符`],
  string_pattern_mismatch: () => ['has a form that is not allowed', '格式不正确'],
  greater_than_equal: ({ ge }) => [`must be ${ge} or more`, `不能小于 ${ge}`],
  less_than_equal: ({ le }) => [`must be ${le} or less`, `不能大于 ${le}`],
  greater_than: ({ gt }) => [`must be more than ${gt}`, `应大于 ${gt}`],
  too_short: ({ min_length: n }) => [`needs at least ${n}`, `至少需要 ${n} 项`],
  too_long: ({ max_length: n }) => [`may have ${n} at most`, `最多 ${n} 项`],
  extra_forbidden: () => ['is not known here', '不是已知的项'],
  literal_error: ({ expected }) => [`must be ${expected}`, `应为 ${expected}`],
  datetime_parsing: () => ['must be a date and a time', '应为日期和时间'],
}

/** The fault in the language of the page; unchanged if its text was written for people. */
export function faultText({ type, msg, ctx }: { type: string; msg: string; ctx: Context }): string {
  if (type === 'string_pattern_mismatch' && !msg.startsWith('String should')) return msg
  const [en, zh] = texts[type]?.(ctx) ?? [msg, msg]
  return globalThis.document?.documentElement.lang.startsWith('zh') ? zh : en
}
