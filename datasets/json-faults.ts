/** Why `JSON.parse` refused a line, and what to do about it. */
export function jsonFault(text: string): string {
  const { at, after } = faultAt(text)
  const rest = text.slice(at, at + 40)
  const column = `character ${at + 1}`
  if (rest.trim() === '')
    return 'the row ends too early: write each row as one JSON object on one line'
  for (const [pattern, message] of literals) if (pattern.test(rest)) return `${message} (${column})`
  if (after === 'row')
    return rest.startsWith('{')
      ? `a second row begins at ${column}: write each row on a line of its own`
      : `text after the end of the row, at ${column}: remove it`
  if (after === 'comma') return `comma without a value after it, at ${column}: remove the comma`
  if (rest.startsWith('"')) return stringFault(text, at)
  return `${wanted[after]}, at ${column}: found ${JSON.stringify(rest.slice(0, 12))}`
}

/** `at` begins a literal that other languages have. */
const literals: readonly [RegExp, string][] = [
  [/^-?(NaN|Infinity|nan|inf)\b/, 'NaN and Infinity are no JSON numbers: write null'],
  [/^(None|True|False)\b/, 'this is Python: write null, true and false, as json.dumps does'],
  [/^'/, 'strings and keys need double quotes'],
  [/^(\/\/|\/\*|#)/, 'JSON has no comments: remove it'],
  [/^[+.]|^-?0\d|^-?\d+\.(?!\d)/, 'not a JSON number: write it as 0.5 or -1'],
]

type After = 'start' | 'key' | 'colon' | 'value' | 'comma' | 'open' | 'row'

const wanted: Record<After, string> = {
  start: 'a row must be a JSON object',
  key: 'a colon is missing',
  colon: 'a value is missing',
  value: 'a comma or a closing bracket is missing',
  comma: 'a value is missing',
  open: 'a key or a value is missing',
  row: 'the row has ended',
}

/** Why no string begins here, or why none may. */
function stringFault(text: string, at: number): string {
  const end = endOfString(text, at)
  const character = text.charAt(end)
  if (character === '"') return `a comma or a colon is missing before character ${at + 1}`
  if (character === '\\')
    return `${text.slice(end, end + 2)} is no escape of JSON (character ${end + 1}): write a backslash as \\\\`
  if (character === '')
    return `the string that begins at character ${at + 1} has no closing quote: a line break inside a string is written as \\n`
  const code = character.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()
  return `control character U+${code} in a string (character ${end + 1}): write it as an escape, such as \\n or \\t`
}

/** Finds the first token that does not fit, without recursion. `after`: what came before it. */
function faultAt(text: string): { at: number; after: After } {
  const open: string[] = []
  let after: After = 'start'
  let at = 0
  for (;;) {
    while (' \t\r\n'.includes(text.charAt(at)) && at < text.length) at++
    const length = tokenLength(text, at)
    const next: After | null = length === 0 ? null : follow(open, after, text.charAt(at))
    if (next === null) return { at, after }
    after = next
    at += length
  }
}

/** The state after the next token, of which the first character is given; null if no such token may follow. */
function follow(open: string[], after: After, token: string): After | null {
  if (token === ':') return after === 'key' ? 'colon' : null
  if (token === ',') return after === 'value' ? 'comma' : null
  if (token === '}' || token === ']') return close(open, after, token)
  return ['start', 'colon', 'comma', 'open'].includes(after) ? begin(open, after, token) : null
}

function begin(open: string[], after: After, token: string): After | null {
  if (open.at(-1) === '{' && after !== 'colon') return token === '"' ? 'key' : null
  if (token !== '{' && token !== '[') return afterValue(open)
  open.push(token)
  return 'open'
}

function close(open: string[], after: After, token: string): After | null {
  if (open.at(-1) !== (token === '}' ? '{' : '[')) return null
  if (after !== 'value' && after !== 'open') return null
  open.pop()
  return afterValue(open)
}

const afterValue = (open: string[]): After => (open.length === 0 ? 'row' : 'value')

const scalar = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y

function tokenLength(text: string, at: number): number {
  const first = text.charAt(at)
  if (first === '') return 0
  if ('{}[]:,'.includes(first)) return 1
  if (first === '"') return stringLength(text, at)
  scalar.lastIndex = at
  return scalar.exec(text)?.[0].length ?? 0
}

function stringLength(text: string, at: number): number {
  const end = endOfString(text, at)
  return text.charAt(end) === '"' ? end + 1 - at : 0
}

/** The place of the closing quote, or of the first character that cannot be in a string. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '"' || character < ' ') return at
    if (character !== '\\') continue
    escaped.lastIndex = at
    const length = escaped.exec(text)?.[0].length
    if (length === undefined) return at
    at += length - 1
  }
  return text.length
}

const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
