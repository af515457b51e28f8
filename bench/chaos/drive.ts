import { setTimeout as pause } from 'node:timers/promises'
import type { Done } from '../../test/whole/chaos/expectation.ts'
import type { Hostile } from '../../test/whole/chaos/hostile.ts'
import type { Ledger } from '../../test/whole/chaos/ledger.ts'
import type { Operation } from '../../test/whole/chaos/operations.ts'
import type { Random } from '../../test/whole/chaos/random.ts'
import { attack } from './attack.ts'
import type { Client } from './clients.ts'
import { type Credentials, type Submitted, submit } from './submit.ts'

export type DriveOptions = {
  url: string
  credentials: Credentials
  ledger: Ledger
  random: Random
  /** Maximum pause of a client between two operations, in milliseconds; the minimum is 0. */
  restMs: number
  /** Requests that must be refused, and how many of all requests they are, from 0 to 1. */
  hostile: { requests: readonly Hostile[]; share: number }
}

export type Tally = {
  operations: number
  attacks: number
  /** Responses by status and broken connections by code. */
  answers: Map<string, number>
  /** Results that a kill cannot explain: not success (of an attack: its refusal), 503, or a connection reset or refused. */
  unexpected: string[]
  slowestMs: number
}

export type Drive = {
  tally: Tally
  /** Ends the load; resolves when the last outcomes are in the ledger. */
  stop(): Promise<void>
  /** Repeats this operation until it is acknowledged; used after `stop`. */
  insist(operation: Operation, withinMs: number): Promise<void>
}

const restAfterFailureMs = 200

/** Runs all clients concurrently, each with one operation at a time. */
export function drive(clients: readonly Client[], options: DriveOptions): Drive {
  const tally: Tally = {
    operations: 0,
    attacks: 0,
    answers: new Map(),
    unexpected: [],
    slowestMs: 0,
  }
  const { random, restMs, hostile } = options
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

  const attackOnce = async () => {
    const request = random.pick(hostile.requests)
    const { answer, unexpected } = await attack(options.url, request)
    tally.attacks++
    if (unexpected) note(tally, `${request.why}: ${answer}`)
  }

  const follow = async (client: Client) => {
    let last: Done | null = null
    await pause(random.whole(0, restMs))
    while (!stopped) {
      const operation: Operation = client(last, random)
      const { outcome } = await perform(operation)
      last = { operation, outcome }
      if (random.chance(hostile.share)) await attackOnce()
      await pause(outcome === 'ok' ? random.whole(0, restMs) : restAfterFailureMs)
    }
  }

  const running = Promise.all(clients.map(follow))
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
  if (unexpected) note(tally, `${operation.kind}: ${answer}`)
}

function note(tally: Tally, what: string): void {
  if (tally.unexpected.length < unexpectedShown) tally.unexpected.push(what)
}
