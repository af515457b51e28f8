import { fileURLToPath } from 'node:url'
import type { Enclosure } from '../attempts/enclosure.ts'
import { bubblewrapArguments } from './bubblewrap.ts'
import { realOf, seenIn, withoutHidden } from './hidden-paths.ts'
import { type CallFilter, callFilter } from './refused-calls.ts'

/** The input of `confine.py`. */
type ConfineOrder = Pick<Enclosure, 'identity'> & {
  command: readonly string[]
  env: Record<string, string>
  cwd: string
  landlock: Pick<Enclosure, 'readable' | 'writable' | 'devices'> | null
  /** System calls that return errors; null: this architecture has no filter. */
  calls: CallFilter | null
  /** How many processes its user may have; null: the user has others, too. */
  processes: number | null
  /** Whether it starts the command as a child and reports its end, instead of becoming it. */
  wait: boolean
}

/** A program to start, with its standard input; it becomes the command or starts it. */
export type Confined = { program: string; args: string[]; order: ConfineOrder }

const confineProgram = fileURLToPath(new URL('confine.py', import.meta.url))

/** Devices that hold no data of others (terminals do), and shared memory, which cannot be listed (`confine.py`). */
const plainDevices = [
  ...['null', 'zero', 'full', 'random', 'urandom', 'tty', 'shm'].map(name => `/dev/${name}`),
]

export function confined(
  enclosure: Enclosure,
  { command, env, cwd }: Pick<ConfineOrder, 'command' | 'env' | 'cwd'>,
): Confined {
  const { mode, identity, python, limits } = enclosure
  const python3 = [python, '-I', '-S', '-B', confineProgram]
  const calls = callFilter(process.arch)
  // In a user namespace, too, its user is counted separately.
  const processes = mode === 'landlock' ? null : (limits?.processes ?? null)
  const order = { command, env, cwd, identity, landlock: null, calls, processes, wait: false }
  if (mode === 'user') return { program: python, args: python3.slice(1), order }
  if (mode === 'landlock') {
    const { writable, tmp, devices } = enclosure
    const { shown, inside, hidden } = seenIn(enclosure)
    const open = new Set(withoutHidden(shown.map(realOf), hidden))
    const landlock = {
      readable: [...open, ...inside, '/proc', '/sys'],
      writable: [...writable, tmp],
      devices: [...plainDevices, ...devices],
    }
    return { program: python, args: python3.slice(1), order: { ...order, landlock } }
  }
  const seen = { ...enclosure, readable: [...enclosure.readable, confineProgram] }
  return {
    program: 'bwrap',
    args: [...bubblewrapArguments(seen), '--', ...python3],
    order: { ...order, wait: true },
  }
}
