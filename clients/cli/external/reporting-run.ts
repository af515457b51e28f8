import { randomUUID } from 'node:crypto'
import { type Api, createApi } from '../api.ts'
import { exitCode, Failure } from '../failure.ts'
import type { Session } from '../session.ts'
import { pause } from '../sse.ts'
import { version } from '../version.ts'
import { type ChildEnd, runChild } from './child.ts'
import { type LogShipper, openLogShipper } from './log-shipper.ts'

/** The response to creating the run; `env` holds the variables its code reads. */
export type Created = { run_id: string; short_id: string; env: Record<string, string> }

/** How long to wait for an unreachable server after the command has ended, in milliseconds. */
const flushMs = 60_000
const sayWaitingMs = 2000
const maxWaitMs = 3000

/** Runs the command with the variables of its run, ships its output and reports its end. */
export async function runReporting(
  session: Session,
  created: Created,
  command: string[],
): Promise<number> {
  const { api, env } = session
  const { run_id: runId } = created
  const url = `${api.host}/runs/${runId}`
  const ingest = createApi({
    // The address that worked for us works for a command on this machine.
    host: `${api.host}/api/ingest`,
    token: created.env.SERVICE_TOKEN ?? null,
    userAgent: `forge-run/${version}`,
    onSlow: () => {},
  })
  say(
    session,
    { type: 'run', run_id: runId, short_id: created.short_id, url },
    `${created.short_id}  ${url}`,
  )
  const shipper = openLogShipper({
    ingest,
    runId,
    producer: `forge-run-${randomUUID()}`,
    onTrouble: once(reason => session.terminal.note(`forge: output is delayed: ${reason}`)),
  })
  const givingUp = new AbortController()
  const began = reportBegin(ingest, runId, givingUp.signal)
  const end = await runChild({
    command,
    env: {
      ...env,
      // Python buffers output that is not a terminal; a live log needs it at once.
      PYTHONUNBUFFERED: env.PYTHONUNBUFFERED ?? '1',
      ...created.env,
      SERVICE_ENDPOINT: ingest.host,
    },
    onOutput: (stream, bytes) => {
      process[stream].write(bytes)
      shipper.write(stream, bytes)
    },
  })
  if (end.fault) {
    process.stderr.write(`${end.fault}\n`)
    shipper.write('stderr', Buffer.from(`${end.fault}\n`))
  }
  const release = giveUpInTime(session, givingUp)
  await reportEnd(session, { ingest, shipper, runId, end, began, giveUp: givingUp.signal })
  release()
  return end.exitCode
}

/** After the command, sending the rest may take a minute, or until Ctrl-C. */
function giveUpInTime({ terminal }: Session, givingUp: AbortController): () => void {
  const giveUp = () => givingUp.abort()
  const timers = [
    setTimeout(giveUp, flushMs),
    setTimeout(
      () =>
        terminal.note('forge: waiting for the server to accept the last reports; Ctrl-C gives up'),
      sayWaitingMs,
    ),
  ]
  process.on('SIGINT', giveUp)
  process.on('SIGTERM', giveUp)
  return () => {
    for (const timer of timers) clearTimeout(timer)
    process.off('SIGINT', giveUp)
    process.off('SIGTERM', giveUp)
  }
}

/** The order matters: billing starts with `running`. */
async function reportBegin(ingest: Api, runId: string, giveUp: AbortSignal): Promise<void> {
  const ts = new Date().toISOString()
  await report(ingest, { run_id: runId, event: 'starting', ts }, giveUp)
  await report(ingest, { run_id: runId, event: 'running', ts }, giveUp)
}

type Ending = {
  ingest: Api
  shipper: LogShipper
  runId: string
  end: ChildEnd
  began: Promise<void>
  giveUp: AbortSignal
}

/** The output goes first, because output may be refused after the end. */
async function reportEnd(session: Session, ending: Ending): Promise<void> {
  const { ingest, shipper, runId, end, began, giveUp } = ending
  const ts = new Date().toISOString()
  const lost = await shipper.close(giveUp)
  if (lost > 0) session.terminal.note(`forge: ${lost} lines of output did not reach the server`)
  await began
  const event = end.exitCode === 0 ? 'succeeded' : 'failed'
  const message = event === 'failed' ? failureMessage(end, shipper.lastLines('stderr', 10)) : null
  const body = { run_id: runId, event, ts, exit_code: end.exitCode, message }
  const fault = await report(ingest, body, giveUp)
  if (fault) session.terminal.note(`forge: the end of the run could not be reported: ${fault}`)
  const told = { type: 'end', run_id: runId, event, exit_code: end.exitCode, lost_lines: lost }
  say(session, told, null)
}

const failureMessage = (end: ChildEnd, lastWords: readonly string[]) =>
  [end.signal ? `ended by ${end.signal}` : `exit code ${end.exitCode}`, ...lastWords]
    .join('\n')
    .slice(0, 6000)

/** Retries until the report is accepted, refused or abandoned; returns why it failed, or null. */
async function report(
  ingest: Api,
  body: Record<string, unknown>,
  giveUp: AbortSignal,
): Promise<string | null> {
  for (let attempt = 0; ; attempt++) {
    const failure = await tryReport(ingest, body)
    // The run had already ended by its own report, which is fine.
    if (failure === null || failure.exitCode === exitCode.conflict) return null
    if (failure.exitCode !== exitCode.unavailable || giveUp.aborted) return failure.message
    await pause(Math.min(maxWaitMs, 250 * 2 ** attempt), giveUp)
  }
}

async function tryReport(ingest: Api, body: Record<string, unknown>): Promise<Failure | null> {
  try {
    await ingest.post('/lifecycle', body)
    return null
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
}

/** Messages go to stderr: stdout belongs to the command. */
function say({ terminal, isJson }: Session, event: Record<string, unknown>, text: string | null) {
  if (isJson) terminal.note(JSON.stringify(event))
  else if (text !== null) terminal.note(`forge: ${text}`)
}

function once(action: (reason: string) => void): (reason: string) => void {
  let isDone = false
  return reason => {
    if (!isDone) action(reason)
    isDone = true
  }
}
