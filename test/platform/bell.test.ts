import test, { type ExecutionContext } from 'ava'
import { createBell } from '../../platform/bell.ts'
import { untilSettled } from '../servers/until.ts'

/** The longest timer: a wait of this length ends only early. */
const longMs = 2 ** 31 - 1
const never = new AbortController().signal

async function endsEarly(t: ExecutionContext, waiting: Promise<unknown>): Promise<void> {
  await t.notThrowsAsync(untilSettled('the wait ends', 20_000, waiting))
}

test('a ring wakes all waiters', async t => {
  const bell = createBell()
  const waiting = [1, 2, 3].map(() => bell.wait(longMs, never))
  bell.ring()
  await endsEarly(t, Promise.all(waiting))
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
  await endsEarly(t, bell.wait(longMs, never))
})

test('a wait reports whether it was rung or its time passed', async t => {
  const bell = createBell()
  t.deepEqual(await bell.wait(1, never), { wasRung: false })
  bell.ring()
  t.deepEqual(await bell.wait(longMs, never), { wasRung: true })
  const waiting = bell.wait(longMs, never)
  bell.ring()
  t.deepEqual(await waiting, { wasRung: true })
})

test('an abort ends the waiting, before and during it', async t => {
  const bell = createBell()
  const stopping = new AbortController()
  const waiting = bell.wait(longMs, stopping.signal)
  stopping.abort()
  await endsEarly(t, waiting)
  await endsEarly(t, bell.wait(longMs, stopping.signal))
})
