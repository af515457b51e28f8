import { setTimeout as pause } from 'node:timers/promises'
import type { Lane } from './clients.ts'
import type { Done } from './expectation.ts'
import type { Ledger } from './ledger.ts'
import type { Operation } from './operations.ts'
import type { Random } from './random.ts'
import { type Credentials, type Submitted, submit } from './submit.ts'

export type DriveOptions = {
  url: string
  credentials: Credentials
  ledger: Ledger
  random: Random
  /** Longest rest of a lane between two operations, in milliseconds; the shortest is 0. */
  restMs: number
}

export type Tally = {
  operations: number
  /** Answers and broken connections by status or code. */
  answers: Map<string, number>
  /** What no kill explains: neither success, nor 503, nor a connection reset or refused. */
  unexpected: string[]
  slowestMs: number
}

export type Drive = {
  tally: Tally
  /** Ends the load and answers when the last answers are in the ledger. */
  stop(): Promise<void>
  /** Sends this again and again until it is acknowledged; after `stop`. */
  insist(operation: Operation, withinMs: number): Promise<void>
}

const restAfterFailureMs = 200

/** Runs all lanes at once, each with one operation under way at a time. */
export function drive(lanes: readonly Lane[], options: DriveOptions): Drive {
  const tally: Tally = { operations: 0, answers: new Map(), unexpected: [], slowestMs: 0 }
  const { random, restMs } = options
  let stopped = false
  let lastOp = 0

  const perform = async (operation: Operation): Promise<Submitted> => {
    const op = ++lastOp
    await options.ledger.write({ op, sent: operation })
    const began = performance.now()
    const submitted = await submit(options.url, operation, options.credentials)
    tally.slowestMs = Math.max(tally.slowestMs, performance.now() - began)
    await options.ledger.write({ op, outcome: submitted.outcome, answer: submitted.answer })
    count(tally, operation, submitted)
    return submitted
  }

  const follow = async (lane: Lane) => {
    let last: Done | null = null
    await pause(random.whole(0, restMs))
    while (!stopped) {
      const operation: Operation = lane(last, random)
      const { outcome } = await perform(operation)
      last = { operation, outcome }
      await pause(outcome === 'ok' ? random.whole(0, restMs) : restAfterFailureMs)
    }
  }

  const running = Promise.all(lanes.map(follow))
  return {
    tally,
    async stop() {
      stopped = true
      await running
    },
    async insist(operation, withinMs) {
      const deadline = performance.now() + withinMs
      while ((await perform(operation)).outcome !== 'ok') {
        if (performance.now() > deadline)
          throw new Error(`${operation.kind} was not acknowledged within ${withinMs} ms`)
        await pause(restAfterFailureMs)
      }
    },
  }
}

const unexpectedShown = 50

function count(tally: Tally, operation: Operation, { answer, unexpected }: Submitted): void {
  const short = answer.split(' ', 1)[0] ?? ''
  tally.operations++
  tally.answers.set(short, (tally.answers.get(short) ?? 0) + 1)
  if (unexpected && tally.unexpected.length < unexpectedShown)
    tally.unexpected.push(`${operation.kind}: ${answer}`)
}
