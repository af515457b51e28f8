import { isDeepStrictEqual } from 'node:util'
import test from 'ava'
import fc from 'fast-check'
import {
  inQueueOrder,
  joining,
  type Placed,
  type QueuedJob,
  type Standing,
  summed,
} from '../../events/calculations/queue-order.ts'

const hourMs = 3_600_000
const t0 = Date.parse('2026-11-20T12:00:00.000Z')
const runs = { numRuns: 500 }

const job = (run_id: string, owner: string, minutes: number, more: Partial<QueuedJob> = {}) => ({
  run_id,
  owner,
  gpus: 1,
  priority: 0,
  admitted_at: new Date(t0 + minutes * 60_000),
  ...more,
})

const nothing: Standing = { class: 0, held_gpus: 0, used_gpu_hours: 0 }
const standings = (of: Record<string, Partial<Standing>>) => (owner: string) => ({
  ...nothing,
  ...of[owner],
})
const order = (jobs: readonly QueuedJob[], of: Record<string, Partial<Standing>> = {}) =>
  inQueueOrder(jobs, standings(of))
    .map(({ job: { run_id } }) => run_id)
    .join(' ')

test('people take turns, regardless of who submitted more', t => {
  const jobs = [job('a1', 'ada', 0), job('a2', 'ada', 1), job('a3', 'ada', 2), job('b1', 'bob', 30)]
  t.is(order(jobs), 'a1 b1 a2 a3')
})

test('a person who holds or recently used less goes first', t => {
  const jobs = [job('a', 'ada', 0), job('b', 'bob', 30)]
  t.is(order(jobs), 'a b')
  t.is(order(jobs, { ada: { held_gpus: 1 } }), 'b a')
  t.is(order(jobs, { ada: { used_gpu_hours: 0.4 } }), 'a b')
  t.is(order(jobs, { ada: { used_gpu_hours: 0.6 } }), 'b a')
})

test('class and priority come before fairness', t => {
  const jobs = [job('a', 'ada', 0, { priority: 1 }), job('b', 'bob', 0), job('c', 'cy', 60)]
  t.is(order(jobs, { ada: { held_gpus: 100 }, cy: { class: 1, held_gpus: 100 } }), 'c a b')
})

test('a changed priority moves the job, even ahead of its owner’s others', t => {
  const own = [job('a1', 'ada', 0), job('a2', 'ada', 1)]
  t.is(order(own), 'a1 a2')
  t.is(
    order([
      job('a1', 'ada', 0),
      { ...job('a2', 'ada', 1), priority: 1 },
      job('b', 'bob', 5, { priority: 1 }),
    ]),
    'a2 b a1',
  )
})

const people = ['ada', 'bob', 'cy'] as const
const arbitraryJobs = fc.uniqueArray(
  fc.record({
    run_id: fc.string({ minLength: 1, maxLength: 3 }),
    owner: fc.constantFrom(...people),
    gpus: fc.integer({ min: 1, max: 8 }),
    priority: fc.integer({ min: -1, max: 1 }),
    admitted_at: fc.integer({ min: 0, max: 600 }).map(minutes => new Date(t0 + minutes * 60_000)),
  }),
  { selector: ({ run_id }) => run_id, maxLength: 20 },
)
const standing = fc.record({
  class: fc.integer({ min: 0, max: 1 }),
  held_gpus: fc.integer({ min: 0, max: 8 }),
  used_gpu_hours: fc.double({ min: 0, max: 200, noNaN: true }),
})
const arbitraryStandings = fc.record({ ada: standing, bob: standing, cy: standing })

test('the order is total: however the jobs are given, it is the same', t => {
  const shuffled = arbitraryJobs.chain(jobs =>
    fc.tuple(fc.constant(jobs), fc.shuffledSubarray(jobs, { minLength: jobs.length })),
  )
  t.notThrows(() =>
    fc.assert(
      fc.property(shuffled, arbitraryStandings, ([one, other], of) => {
        return order(one, of) === order(other, of)
      }),
      runs,
    ),
  )
  t.is(order([job('b', 'bob', 0), job('a', 'ada', 0)]), 'a b')
})

test('newcomers are placed where they are once all of them have joined', t => {
  // A job that moves ahead of its owner's other jobs moves those back; only the last may, since nothing is queried after it.
  const newcomerOf = (priority: fc.Arbitrary<number>) =>
    fc.record({
      owner: fc.constantFrom(...people),
      gpus: fc.integer({ min: 1, max: 8 }),
      priority,
    })
  const arbitraryNewcomers = fc
    .tuple(
      fc.array(newcomerOf(fc.constant(-1)), { maxLength: 4 }),
      newcomerOf(fc.integer({ min: -1, max: 1 })),
    )
    .map(([first, last]) => [...first, last])
  t.notThrows(() =>
    fc.assert(
      fc.property(arbitraryJobs, arbitraryNewcomers, arbitraryStandings, (jobs, asked, of) => {
        const at = Math.max(t0, ...jobs.map(each => each.admitted_at.getTime()))
        const line = summed(inQueueOrder(jobs, standings(of)))
        const before: Placed<QueuedJob>[] = []
        return asked.every((each, nth) => {
          const newcomer = { ...each, run_id: `\uffff${nth}`, admitted_at: new Date(at) }
          const { placed, index, gpus } = joining(line, before, newcomer, of[each.owner])
          before.push(placed)
          const whole = inQueueOrder([...jobs, ...before.map(({ job }) => job)], standings(of))
          const ahead = whole.slice(0, index).map(({ job }) => job)
          return whole[index]?.job === newcomer && gpus === sumOf(ahead.map(job => job.gpus))
        })
      }),
      runs,
    ),
  )
})

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0)

test('among one person’s jobs, the higher priority goes first, then the earlier submit', t => {
  const ownOrder = (jobs: readonly QueuedJob[]) =>
    jobs.toSorted(
      (a, b) =>
        b.priority - a.priority ||
        a.admitted_at.getTime() - b.admitted_at.getTime() ||
        (a.run_id < b.run_id ? -1 : 1),
    )
  t.notThrows(() =>
    fc.assert(
      fc.property(arbitraryJobs, arbitraryStandings, (jobs, of) => {
        const ordered = inQueueOrder(jobs, standings(of)).map(({ job }) => job)
        return people.every(person => {
          const own = ordered.filter(({ owner }) => owner === person)
          return isDeepStrictEqual(own, ownOrder(own))
        })
      }),
      runs,
    ),
  )
})

test('nobody starves: a job is never behind one submitted later by more hours than its own penalty', t => {
  t.notThrows(() =>
    fc.assert(
      fc.property(arbitraryJobs, arbitraryStandings, (jobs, of) => {
        const ordered = inQueueOrder(jobs, standings(of)).map(({ job }) => job)
        return ordered.every((mine, at) => {
          const its = of[mine.owner as keyof typeof of]
          const ahead = ordered.slice(0, at)
          const own = ahead.filter(({ owner }) => owner === mine.owner)
          const hours =
            its.held_gpus + its.used_gpu_hours + own.reduce((sum, { gpus }) => sum + gpus, 0)
          const latest = mine.admitted_at.getTime() + hours * hourMs
          return ahead.every(
            other =>
              of[other.owner as keyof typeof of].class > its.class ||
              other.priority > mine.priority ||
              other.admitted_at.getTime() <= latest,
          )
        })
      }),
      runs,
    ),
  )
})

/** One GPU, given to the first job of the queue again and again; returns the hours that each person used. */
function shares(durations: readonly number[], hours: number): Record<string, number> {
  const used: Record<string, number> = { ada: 0, bob: 0 }
  let waiting = ['ada', 'bob'].flatMap((owner, person) =>
    durations.map((_, index) => job(`${owner}-${String(index).padStart(4, '0')}`, owner, person)),
  )
  const length = new Map(
    waiting.map(({ run_id }, at) => [run_id, durations[at % durations.length]]),
  )
  for (let passed = 0; passed < hours && waiting.length > 0; ) {
    const first = inQueueOrder(
      waiting,
      standings(
        Object.fromEntries(people.map(owner => [owner, { used_gpu_hours: used[owner] ?? 0 }])),
      ),
    )[0]?.job
    if (!first) break
    const took = length.get(first.run_id) ?? 0
    used[first.owner] = (used[first.owner] ?? 0) + took
    passed += took
    waiting = waiting.filter(({ run_id }) => run_id !== first.run_id)
  }
  return used
}

test('two people with full queues get the same GPU time, except for one job’s length and the minute between their submits', t => {
  t.notThrows(() =>
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0.01, max: 2, noNaN: true }), { minLength: 30, maxLength: 60 }),
        durations => {
          const { ada = 0, bob = 0 } = shares(durations, 10)
          return Math.abs(ada - bob) <= 2 + 1 / 60 + 1e-6
        },
      ),
      { numRuns: 100 },
    ),
  )
})
