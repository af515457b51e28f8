import { isOfForge } from './logs.ts'

export type End = {
  exit_code: number | null
  signal: string | null
  end_reason: string | null
  message: string | null
}
export type EndedRun = End & { state: string }

/** Longer messages are truncated in `why` (characters); `message` has the full text. */
const maxDetail = 300

/** How the run ended, in one sentence; null if it has not ended, or succeeded. */
export function whyEnded(run: EndedRun): string | null {
  if (run.state === 'abandoned') return 'nothing was heard of it for a day'
  if (run.state !== 'failed' && run.state !== 'stopped') return null
  const parts = [endText(run), detailOf(run)]
  return parts.filter(part => part !== null).join(': ') || 'its code did not say why'
}

const wordsOfReason: Record<string, string> = {
  oom_killed: 'ran out of memory and was killed',
  disk_limit: 'took too much disk space',
  launch_error: 'could not be started',
  node_failure: 'was lost with its machine or its supervisor',
  max_pending: 'waited too long to start',
  user: 'somebody stopped it',
  limit: 'reached a limit',
}

const endText = ({ end_reason, exit_code, signal }: EndedRun): string | null => {
  const words = wordsOfReason[end_reason ?? '']
  if (words !== undefined) return words
  if (signal !== null) return `ended by ${signal}`
  return exit_code === null ? null : exitWords(exit_code)
}

/** The signals that most often end programs; shells report them as 128 plus the number. */
const signals: Record<number, string> = {
  129: 'SIGHUP',
  130: 'SIGINT',
  131: 'SIGQUIT',
  132: 'SIGILL',
  134: 'SIGABRT',
  135: 'SIGBUS',
  136: 'SIGFPE',
  137: 'SIGKILL',
  139: 'SIGSEGV',
  141: 'SIGPIPE',
  143: 'SIGTERM',
}

const exitWords = (code: number): string =>
  signals[code] === undefined ? `exit code ${code}` : `exit code ${code} (${signals[code]})`

const saysTheExit = /^(exit code \d+|ended by SIG\w+)$/

/** The last line of the message, where programs name the exception; null if the reason above already says it. */
function detailOf({ end_reason, exit_code, message }: EndedRun): string | null {
  if (message === null || end_reason === 'exit_code' || end_reason === 'oom_killed') return null
  const last =
    message
      .trimEnd()
      .split('\n')
      .findLast(line => !isOfForge(line))
      ?.trim() ?? ''
  if (last === '' || (exit_code !== null && saysTheExit.test(last))) return null
  return last.length > maxDetail ? `${last.slice(0, maxDetail)}…` : last
}
