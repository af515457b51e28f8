import type { ExecutionContext } from 'ava'
import type { Executor, Launch } from '../../executor/port.ts'

/** The bench of an executor: it opens the executor, and opens it again as a new process would. */
export type Bench = {
  executor: Executor
  /** A second handle on the same host, as after a restart of the server. */
  reopen(): Promise<Executor>
  /** A directory that commands may write to. */
  scratch: string
  /** The cluster assigns GPUs itself: only the number of GPUs in a launch counts. */
  choosesGpus: boolean
  /** Kills the supervisor of the attempt on its first node with SIGKILL; an executor that needs it starts it again. */
  killAgent(ref: string): Promise<void>
  /** Submits without learning the outcome: the caller is killed, or the response is lost. */
  submitUnheard(launch: Launch): Promise<void>
  /** Makes the host unreachable until the returned function is called. */
  takeAway(): Promise<() => Promise<void>>
}

/** Registers one test. */
export type Rule = (
  title: string,
  body: (t: ExecutionContext, bench: Bench) => Promise<void>,
) => void
