import test from 'ava'
import { createPresence } from '../../platform/presence.ts'

/** Records a sign of life at each of these seconds; returns after which of them others may be judged. */
function judgedAt(seconds: readonly number[], interruptedAt: readonly number[] = []): number[] {
  const presence = createPresence(600_000)
  return seconds.filter(second => {
    if (interruptedAt.includes(second)) presence.interrupt()
    else presence.noted(new Date(second * 1000))
    return presence.mayJudge()
  })
}

const every30 = Array.from({ length: 43 }, (_, n) => n * 30)

test('only a process present for ten minutes judges others', t => {
  t.deepEqual(judgedAt(every30)[0], 600)
  t.deepEqual(judgedAt([]), [])
})

test('a process that starts, or returns after a gap, learns of it once', t => {
  const presence = createPresence(600_000)
  const told = [0, 30, 60, 200, 230].filter(second => {
    presence.noted(new Date(second * 1000))
    return presence.hasJustCome()
  })
  t.deepEqual(told, [0, 200])
})

test('a failed pass, a gap and a clock set back restart the ten minutes', t => {
  t.deepEqual(judgedAt(every30, [300])[0], 330 + 600)
  t.deepEqual(judgedAt(every30, [900]).at(-1), 870, 'not even if others were judged before')
  t.deepEqual(judgedAt([0, 700, 1400]), [])
  const setBack = [...every30.filter(second => second < 600), 10, 40]
  t.deepEqual(judgedAt(setBack), [])
})
