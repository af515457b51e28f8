import { randomUUID } from 'node:crypto'
import { whileRead } from '../program/output.ts'
import { pause } from '../program/pause.ts'
import type { Session, World } from '../program/session.ts'
import { type ChildEnd, runChild } from './child.ts'
import { heedControl } from './heed-control.ts'
import { type Address, type Control, deliver, type Report } from './ingest.ts'
import { lastWord } from './last-word.ts'
import { type LogShipper, openLogShipper } from './log-shipper.ts'
import type { Spool } from './spool.ts'

/** A run to report to: `address` null if it could not be created until giving up. */
export type Beginning = {
  address: Promise<Address | null>
  spool: Spool
  /** Variables with the address for the command's reports. */
  variables: Record<string, string>
  /** Fires when it is time to give up. */
  givingUp: AbortController
}

/** How long the last reports are tried after the command has ended, or after the last success, in milliseconds. */
const flushMs = 9000
const sayWaitingMs = 2000
const maxWaitMs = 3000

/** Runs the command with the variables of its run, ships its output and reports its end. */
export async function runReporting(
  session: Session,
  beginning: Beginning,
  command: string[],
): Promise<number> {
  // A terminal that closes ends the command, perhaps by several signals; reporting that end takes a moment longer.
  session.process.on('SIGHUP', continueReporting)
  try {
    return await reported(session, beginning, command)
  } finally {
    session.process.off('SIGHUP', continueReporting)
  }
}

const continueReporting = () => {}

async function reported(
  session: Session,
  beginning: Beginning,
  command: string[],
): Promise<number> {
  const { terminal, env, process } = session
  const { address, variables, givingUp, spool } = beginning
  const beganMs = session.nowMs()
  const patience = giveUpInTime(session, givingUp)
  const shipper = openLogShipper({
    address,
    producer: `forge-run-${randomUUID()}`,
    ...{ folder: spool.root, diskBytes: spool.maxBytes },
    onTrouble: once(reason => terminal.note(`forge: output is delayed: ${reason}`)),
    onSent: patience.renew,
  })
  const print = printingOn(session)
  const began = reportBegin(address, new Date(beganMs), givingUp.signal)
  const ended = new AbortController()
  const end = await runChild(process, {
    command,
    onStart(kill) {
      const after = began.then(() => address)
      void heedControl({ address: after, ended: ended.signal, onControl: heed(session, kill) })
    },
    env: {
      ...env,
      // Python buffers output that is not a terminal; a live log needs it at once.
      PYTHONUNBUFFERED: env.PYTHONUNBUFFERED ?? '1',
      ...variables,
    },
    onOutput: (stream, bytes) => all(print[stream](bytes), shipper.write(stream, bytes)),
  })
  ended.abort()
  if (end.fault) {
    await print.stderr(Buffer.from(`${end.fault}\n`))
    void shipper.write('stderr', Buffer.from(`${end.fault}\n`))
  }
  patience.begin()
  await finish(session, { beginning, shipper, end, began, beganMs })
  patience.end()
  return end.exitCode
}

/** A reader that closes its end stops the printing only: the command continues, and its output is collected. */
export function printingOn({ process, printing }: World) {
  printing.goOn()
  return { stdout: whileRead(process.stdout), stderr: whileRead(process.stderr) }
}

function all(...waits: (Promise<void> | null)[]): Promise<void> | null {
  const left = waits.filter(wait => wait !== null)
  return left.length === 0 ? null : Promise.all(left).then(() => {})
}

/** A stop ends the command with SIGTERM, so that it may still save; `forge stop --force` kills it. */
const heed =
  ({ terminal }: Session, kill: (signal: NodeJS.Signals) => void) =>
  (control: Control) => {
    const signal = control === 'exit' ? 'SIGKILL' : 'SIGTERM'
    terminal.note(`forge: the run was asked to stop; the command gets ${signal}`)
    kill(signal)
  }

/** After the command, the rest is sent for as long as the server accepts it, or until Ctrl-C. */
function giveUpInTime({ terminal, process }: Session, givingUp: AbortController) {
  const giveUp = () => givingUp.abort()
  let timers: NodeJS.Timeout[] = []
  const sayWaiting = () =>
    terminal.note('forge: waiting for the server to accept the last reports; Ctrl-C gives up')
  return {
    begin() {
      timers = [setTimeout(giveUp, flushMs), setTimeout(sayWaiting, sayWaitingMs)]
      process.on('SIGINT', giveUp)
      process.on('SIGTERM', giveUp)
    },
    renew: () => timers[0]?.refresh(),
    end() {
      for (const timer of timers) clearTimeout(timer)
      process.off('SIGINT', giveUp)
      process.off('SIGTERM', giveUp)
    },
  }
}

/** The order matters: billing starts with `running`. Resolves with the unsent reports. */
async function reportBegin(
  address: Promise<Address | null>,
  at: Date,
  giveUp: AbortSignal,
): Promise<Report[]> {
  const ts = at.toISOString()
  const reports = ['starting', 'running'].map(event => lifecycle({ event, ts }))
  return sendInOrder(await address, reports, giveUp)
}

type Ending = {
  beginning: Beginning
  shipper: LogShipper
  end: ChildEnd
  began: Promise<Report[]>
  beganMs: number
}

/** The output goes before the end, because output may be refused after it. */
async function finish(session: Session, ending: Ending): Promise<void> {
  const { beginning, shipper, end, began, beganMs } = ending
  const { spool, givingUp } = beginning
  const ts = new Date(session.nowMs()).toISOString()
  const { unsent, lost } = await shipper.close(givingUp.signal)
  const first = await began
  const address = await beginning.address
  const event = end.exitCode === 0 ? 'succeeded' : 'failed'
  const message = event === 'failed' ? failureMessage(end, shipper.lastLines('stderr', 10)) : null
  const last = lifecycle({ event, ts, exit_code: end.exitCode, message })
  // Unsent reports precede the end, too.
  const rest = [
    ...unsent,
    ...(await sendInOrder(address, unsent.length > 0 ? [] : [last], givingUp.signal)),
  ]
  if (unsent.length > 0) rest.push(last)
  const kept = await keep(spool, address, { first, rest }, beganMs, session.nowMs())
  await spool.leave()
  const ended = {
    type: 'end',
    run_id: address?.run_id ?? spool.reportId,
    event,
    exit_code: end.exitCode,
  }
  await lastWord(session, { end: ended, address, lostLines: lost, ...kept })
}

type Unsent = { first: Report[]; rest: Report[] }

/** Two files, because reports that the command itself kept belong between the beginning and the end. */
async function keep(
  spool: Spool,
  address: Address | null,
  { first, rest }: Unsent,
  beganMs: number,
  endedMs: number,
): Promise<{ kept: number; folder: string | null; fault: string | null }> {
  const kept = first.length + rest.length
  if (kept === 0) return { kept, folder: null, fault: null }
  try {
    if (address) await spool.note(address)
    if (first.length > 0) await spool.keep(first, beganMs)
    if (rest.length > 0) await spool.keep(rest, endedMs)
    return { kept, folder: spool.folder, fault: null }
  } catch (error) {
    return { kept, folder: null, fault: error instanceof Error ? error.message : String(error) }
  }
}

const lifecycle = (body: Record<string, unknown>): Report => ({ route: 'lifecycle', body })

const failureMessage = (end: ChildEnd, lastWords: readonly string[]) =>
  [end.signal ? `ended by ${end.signal}` : `exit code ${end.exitCode}`, ...lastWords]
    .join('\n')
    .slice(0, 6000)

/** Tries each until the server accepts or refuses it; returns the rest, from the first without a verdict. */
async function sendInOrder(
  address: Address | null,
  reports: readonly Report[],
  giveUp: AbortSignal,
): Promise<Report[]> {
  if (!address) return [...reports]
  for (const [index, report] of reports.entries())
    if (!(await sendUntilKnown(address, report, giveUp))) return reports.slice(index)
  return []
}

async function sendUntilKnown(address: Address, report: Report, giveUp: AbortSignal) {
  for (let attempt = 0; ; attempt++) {
    // Refused as a conflict: the run had already ended by its own report, which is fine.
    if ((await deliver(address, report, giveUp)).outcome !== 'not now') return true
    if (giveUp.aborted) return false
    await pause(Math.min(maxWaitMs, 250 * 2 ** attempt), giveUp)
  }
}

function once(action: (reason: string) => void): (reason: string) => void {
  let isDone = false
  return reason => {
    if (!isDone) action(reason)
    isDone = true
  }
}
