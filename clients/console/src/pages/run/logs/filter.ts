/** A filter of the log, in the API's terms. */
export const filterNames = ['grep', 'regex', 'rank', 'node', 'stream', 'attempt'] as const

/** Words that programs print when they fail. */
export const errorPattern =
  '(?i)(error|exception)\\b|\\b(traceback|fatal|panic|killed|out of memory|segmentation fault)\\b'

export type Filter = { [N in (typeof filterNames)[number]]?: string }

/** The filter that a form asks for; its text is a pattern where `isRegex` is given. */
export function filterOf(
  given: Readonly<Record<string, string>>,
): Record<string, string | undefined> {
  const { text = '', isRegex, ...others } = given
  return {
    ...Object.fromEntries(
      filterNames.map(name => [name, (others[name] ?? '').trim() || undefined]),
    ),
    [isRegex ? 'regex' : 'grep']: text.trim() || undefined,
  }
}
