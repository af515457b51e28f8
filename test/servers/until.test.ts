import test from 'ava'
import { patient } from './patience.ts'
import { until } from './until.ts'

test('until polls less and less often, a last time at the deadline, and names the condition', async t => {
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

test('until accepts the result of the last poll', async t => {
  let looks = 0
  t.is(await until('any look', 0, () => ++looks === 1 && 'found'), 'found')
  await t.throwsAsync(until('too late', 0, () => false))
  const began = performance.now()
  const isTime = () => performance.now() - began >= patient(300)
  t.true(await until('the deadline itself', 300, isTime))
})
