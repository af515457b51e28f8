import { mkdtemp, rm } from 'node:fs/promises'
import { createConnection, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { lendLanes } from '../servers/lane.ts'
import { until } from '../servers/until.ts'

/** Requests a lane as a thread does; `number` is empty until one is free. */
function ask(t: ExecutionContext, path: string) {
  const asked: { number: string; socket: Socket } = { number: '', socket: createConnection(path) }
  t.teardown(() => asked.socket.destroy())
  asked.socket.setEncoding('utf8').on('data', text => {
    asked.number += text
  })
  return asked
}

test('a lane belongs to one thread until its connection ends, and then to the next waiting one', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'forge-lanes-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'lanes.sock')
  const lanes = await lendLanes(path, 2)
  t.teardown(() => lanes.close())
  const [first, second] = [ask(t, path), ask(t, path)]
  await until('both lanes are lent', 10_000, () => first.number !== '' && second.number !== '')
  t.deepEqual([first.number, second.number].sort(), ['0', '1'])
  const [third, fourth] = [ask(t, path), ask(t, path)]
  await until('the third is connected', 10_000, () => !third.socket.connecting)
  t.is(third.number + fourth.number, '')
  second.socket.destroy()
  await until(
    'one of the waiting threads has the lane',
    10_000,
    () => third.number + fourth.number !== '',
  )
  t.is(third.number + fourth.number, second.number)
})
