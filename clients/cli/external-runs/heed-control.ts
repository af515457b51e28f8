import { pause } from '../program/pause.ts'
import { type Address, type Control, deliver } from './ingest.ts'

type Heeding = {
  address: Promise<Address | null>
  /** Fires when the command has ended. */
  ended: AbortSignal
  /** Called when the platform asks for more than before. */
  onControl: (control: Control) => void
}

/** How long a stop may take to reach a command that sends no reports, in milliseconds. */
const askEveryMs = 10_000

const urgency: Control[] = ['none', 'checkpoint_and_exit', 'exit']

/** Polls for the platform's requests by repeating that the run is running, which changes nothing. */
export async function heedControl({ address, ended, onControl }: Heeding): Promise<void> {
  const known = await address
  let heeded = 0
  while (known && !ended.aborted) {
    const reply = await deliver(known, { route: 'lifecycle', body: { event: 'running' } }, ended)
    const asked = reply.outcome === 'taken' ? urgency.indexOf(reply.control) : 0
    if (asked > heeded && !ended.aborted) {
      heeded = asked
      onControl(urgency[asked] ?? 'none')
    }
    await pause(askEveryMs, ended)
  }
}
