import test from 'ava'
import { createBell } from '../../platform/bell.ts'

const longMs = 60_000
const never = new AbortController().signal

test('a ring wakes everyone who waits', async t => {
  const bell = createBell()
  const waiting = [1, 2, 3].map(() => bell.wait(longMs, never))
  bell.ring()
  await Promise.all(waiting)
  t.pass()
})

test('a ring while nobody waits is kept for the next one, once', async t => {
  const bell = createBell()
  bell.ring()
  bell.ring()
  await bell.wait(longMs, never)
  const began = performance.now()
  await bell.wait(30, never)
  t.true(performance.now() - began > 20)
})

test('a ring between waking and going on is not lost', async t => {
  const bell = createBell()
  const first = bell.wait(longMs, never)
  bell.ring()
  bell.ring()
  await first
  await bell.wait(longMs, never)
  t.pass()
})

test('an abort ends the waiting, before and during it', async t => {
  const bell = createBell()
  const stopping = new AbortController()
  const waiting = bell.wait(longMs, stopping.signal)
  stopping.abort()
  await waiting
  await bell.wait(longMs, stopping.signal)
  t.pass()
})
