import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { TrafficRow } from '../../schemas/traffic.ts'
import type { Reply } from '../servers/api.ts'
import { type Forge, startForgeProcess } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { deployed } from './deployed.ts'
import { load } from './load.ts'

const rounds = 12

/** An engine in a separate process, at the same port each time. */
async function killableEngine(t: ExecutionContext) {
  let port = 0
  const start = async () => {
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, 'engine-process.ts'), String(port)],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const [said] = await once(child.stdout, 'data')
    port = Number(said)
    return child
  }
  let child = await start()
  const kill = async () => {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  t.teardown(kill)
  return {
    url: `http://127.0.0.1:${port}`,
    async killAndStart() {
      await kill()
      child = await start()
    },
  }
}

/** Every row on record, by the pages of the API. */
async function recorded(forge: Forge, path: string): Promise<TrafficRow[]> {
  const rows: TrafficRow[] = []
  let next: string | null = `${path}/traffic?limit=500`
  while (next !== null) {
    const reply: Reply<TrafficRow[]> = await forge.call('GET', next)
    rows.push(...reply.body)
    next = /<([^>]+)>; rel="next"/.exec(reply.headers.get('link') ?? '')?.[1] ?? null
  }
  return rows
}

test('kill -9 of gateway and engine at random: each answered request is on record once', async t => {
  t.timeout(patient(400_000))
  const forge = await startForgeProcess(t, {
    SERVICE_ROLES: 'command-api,relay,projector,query-api',
  })
  const gateway = await forge.another({ SERVICE_ROLES: 'gateway' })
  const engine = await killableEngine(t)
  const { path, inference, token } = await deployed(forge, 'killed', [engine.url])
  const loaded = load({
    ...{ urls: [gateway.url], path: `${inference}/chat/completions`, token },
    callers: 8,
  })
  const well = () => loaded.asked.filter(({ status, isWhole }) => status === 200 && isWhole)
  for (let round = 0; round < rounds; round++) {
    const from = well().length
    // At random, and so rarely at the same point of a request.
    const some = 20 + Math.floor(Math.random() * 60)
    await until('requests pass', 60_000, () => well().length > from + some, 1)
    if (round % 3 === 2) await engine.killAndStart()
    else {
      await gateway.kill()
      await gateway.start()
    }
  }
  await loaded.stop()
  // A gateway that is starting refuses with 503 and has not looked at the token: no request of it is counted.
  const answered = loaded.asked.filter(({ isWhole, revision }) => isWhole && revision !== null)
  // Aborted requests are recorded, too, and must not arrive between reading the rows and reading their summary.
  const { rows, requests } = await until('all is on record', 60_000, async () => {
    const rows = await recorded(forge, path)
    const { body } = await forge.call<{ requests: number }>('GET', `${path}/traffic/summary`)
    const isSettled = (await recorded(forge, path)).length === rows.length
    const ids = new Set(rows.map(({ request_id }) => request_id))
    const isWhole = answered.every(({ request_id }) => ids.has(request_id ?? ''))
    return isSettled && isWhole && { rows, requests: body.requests }
  })
  const ids = rows.map(({ request_id }) => request_id)
  t.is(new Set(ids).size, ids.length, 'none twice')
  t.is(requests, ids.length, 'nor counted twice')
  const cut = loaded.asked.filter(({ status, isWhole }) => status === 200 && !isWhole)
  t.true(cut.length > 0, 'kills met answers under way')
  t.log(
    `${answered.length} answered, ${cut.length} cut off, ${rows.length} rows, ${well().length} with 200`,
  )
})
