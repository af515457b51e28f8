import test from 'ava'
import { patient } from './patience.ts'
import { until } from './until.ts'

test('until looks ever more rarely, a last time at the deadline, and says what it waited for', async t => {
  const looks: number[] = []
  const began = performance.now()
  const look = () => {
    looks.push(performance.now() - began)
    return false
  }
  await t.throwsAsync(until('it rains', 1_000, look), {
    message: `waited ${patient(1_000)} ms and still not: it rains`,
  })
  // Without growth there would be 200. A busy machine only makes them fewer.
  t.true(looks.length < 40, String(looks.length))
  t.true((looks.at(-1) ?? 0) >= patient(1_000), String(looks.at(-1)))
})

test('until takes what is found by the last look', async t => {
  let looks = 0
  t.is(await until('any look', 0, () => ++looks === 1 && 'found'), 'found')
  await t.throwsAsync(until('too late', 0, () => false))
  const began = performance.now()
  const isTime = () => performance.now() - began >= patient(300)
  t.true(await until('the deadline itself', 300, isTime))
})
