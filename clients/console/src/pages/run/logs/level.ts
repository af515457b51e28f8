type Level = 'error' | 'warning' | 'debug'

const levels: Readonly<Record<string, Level>> = {
  trace: 'debug',
  debug: 'debug',
  warn: 'warning',
  warning: 'warning',
  err: 'error',
  error: 'error',
  critical: 'error',
  fatal: 'error',
  panic: 'error',
}

/** How far into a line a logger's level may stand, after its time and its name. */
const headLength = 120

const patterns = [
  // JSON and logfmt.
  /(?:^|[\s{,])"?(?:level|lvl|severity|levelname)"?\s{0,2}[=:]\s{0,2}"?([a-z]+)/i,
  // `2026-11-27 12:00:00 [ERROR] …`, `WARNING:root:…`
  /(?:^|[\s[(|<:])(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERR|ERROR|CRITICAL|FATAL|PANIC)(?=$|[\s\])|>:,])/,
  // `error: …`, `cc: warning: …`, `train.py:7: UserWarning: …`
  /^(?:[\w./+-]{1,80}: ?(?:\d+: ?){0,2})?(?:[A-Z][A-Za-z]*)?(error|fatal|panic|warning)\b(?=:| \[)/i,
  // `torch.OutOfMemoryError: …`, `KeyboardInterrupt`
  /^(?:\w{1,40}\.){0,5}[A-Z]\w{0,60}(Error)(?=:|$)/,
]
const glog = /^([IWEF])\d{4} \d\d:\d\d:\d\d/
const python =
  /^(?:Traceback \(most recent call last\):|(?:\w{1,40}\.){0,5}[A-Z]\w{0,60}(?:Exception|Interrupt)(?::|$))/

/** The level that a line of a log names, or null: unknown, or nothing out of the ordinary. */
export function levelOf(line: string): Level | null {
  const head = line.slice(0, headLength)
  if (python.test(head)) return 'error'
  const letter = glog.exec(head)?.[1]
  if (letter !== undefined) return levelOfLetter(letter)
  for (const pattern of patterns) {
    const name = pattern.exec(head)?.[1]
    if (name !== undefined) return levels[name.toLowerCase()] ?? null
  }
  return null
}

function levelOfLetter(letter: string): Level | null {
  if (letter === 'W') return 'warning'
  return letter === 'I' ? null : 'error'
}
