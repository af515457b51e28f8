import test from 'ava'
import { createBell } from '../../platform/bell.ts'
import { patient } from '../servers/patience.ts'

const longMs = 60_000
const never = new AbortController().signal
/** Far below what the waiting would last by itself. */
const soonMs = patient(10_000)

async function msOf(work: Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work
  return performance.now() - began
}

test('a ring wakes all waiters', async t => {
  const bell = createBell()
  const waiting = [1, 2, 3].map(() => bell.wait(longMs, never))
  bell.ring()
  t.true((await msOf(Promise.all(waiting))) < soonMs)
})

test('a ring without waiters is kept once for the next waiter', async t => {
  const bell = createBell()
  bell.ring()
  bell.ring()
  await bell.wait(longMs, never)
  const began = performance.now()
  await bell.wait(30, never)
  t.true(performance.now() - began > 20)
})

test('a ring between waking and continuing is not lost', async t => {
  const bell = createBell()
  const first = bell.wait(longMs, never)
  bell.ring()
  bell.ring()
  await first
  t.true((await msOf(bell.wait(longMs, never))) < soonMs)
})

test('an abort ends the waiting, before and during it', async t => {
  const bell = createBell()
  const stopping = new AbortController()
  const waiting = bell.wait(longMs, stopping.signal)
  stopping.abort()
  t.true((await msOf(waiting)) < soonMs)
  t.true((await msOf(bell.wait(longMs, stopping.signal))) < soonMs)
})
