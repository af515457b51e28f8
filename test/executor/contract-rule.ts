import type { ExecutionContext } from 'ava'
import type { Executor, Launch } from '../../executor/port.ts'

/** What an engine's tests provide: an executor, and the same one as a new process would open it. */
export type Bench = {
  executor: Executor
  /** A second handle on the same engine, as after a restart of the server. */
  reopen(): Promise<Executor>
  /** A directory that commands may write to. */
  scratch: string
  /** The engine gives out its GPUs itself: of those that a launch names, only the number counts. */
  choosesGpus: boolean
  /** Kills with SIGKILL what watches over the attempt on its first node; an engine that needs it starts it again. */
  killAgent(ref: string): Promise<void>
  /** Submits where nobody learns the outcome: the caller is killed, or the response lost. */
  submitUnheard(launch: Launch): Promise<void>
  /** Makes the engine unreachable, until what is returned is called. */
  takeAway(): Promise<() => Promise<void>>
}

/** Registers one test. */
export type Rule = (
  title: string,
  body: (t: ExecutionContext, bench: Bench) => Promise<void>,
) => void
