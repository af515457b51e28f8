import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { startEngine, startForge, startLitellm, type Way } from './gateway/ways.ts'
import type { LoadResult } from './load/plan.ts'
import { runLoad } from './load/start.ts'
import { type Spread, spreadOf } from './rig/quantile.ts'
import { number, toTable } from './rig/table.ts'

const usage = `npm run bench:gateway -- [options]
One trivial engine, straight and through gateways: Forge's, and LiteLLM's proxy, which is installed for it. All on this machine.
  --seconds N   for each figure (10)
  --streams N   open at once (500)
  --alone       without LiteLLM`

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    streams: { type: 'string', default: '500' },
    alone: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.error(usage)
  process.exit(0)
}
const seconds = Number(values.seconds)
const streams = Number(values.streams)
const firstBytes = 100

type Figures = {
  way: Way
  /** Latency at 100 requests a second. */
  paced: LoadResult
  /** Requests a second with 16 busy connections. */
  full: LoadResult
  first: Spread
  memory: { streaming: number; open: number } | null
  /** Megabytes before the first request. */
  idle: number
}

const messages = [{ role: 'user', content: 'Say hello.' }]

function loadOn({ origin, path, token }: Way, connections: number, rate: number | null) {
  const { hostname: host, port } = new URL(origin)
  const body = { model: 'm', messages }
  const call = { method: 'POST', path: `${path}/v1/chat/completions`, token, body }
  const work = { calls: [call] }
  return runLoad({ host, port: Number(port), work, connections, seconds, resent: 0, rate })
}

/** Resolves at the first byte of a stream, which stays open until `signal` ends it. */
async function openStream({ origin, path, token }: Way, signal: AbortSignal): Promise<void> {
  const response = await fetch(`${origin}${path}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ model: 'm', stream: true, messages }),
    signal,
  })
  const reader = response.body?.getReader()
  const { value } = (await reader?.read()) ?? {}
  if (response.status !== 200 || !value) throw new Error(`a stream got ${response.status}`)
  // Reads the rest as well; otherwise it would pile up on the way.
  const take = async () => {
    while (!(await reader?.read())?.done);
  }
  take().catch(() => {})
}

async function untilFirstBytes(way: Way): Promise<Spread> {
  const took: number[] = []
  for (let times = 0; times < firstBytes; times++) {
    const end = new AbortController()
    const began = performance.now()
    await openStream(way, end.signal)
    took.push(performance.now() - began)
    end.abort()
  }
  return spreadOf(took)
}

async function megabytesOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
}

async function whileStreaming(way: Way): Promise<Figures['memory']> {
  if (way.pid === null) return null
  const end = new AbortController()
  const opened = await Promise.allSettled(
    Array.from({ length: streams }, () => openStream(way, end.signal)),
  )
  const looks: number[] = []
  for (const until = performance.now() + seconds * 1000; performance.now() < until; ) {
    looks.push(await megabytesOf(way.pid))
    await new Promise(resolve => setTimeout(resolve, 200))
  }
  end.abort()
  const open = opened.filter(({ status }) => status === 'fulfilled').length
  return { streaming: Math.max(...looks), open }
}

async function measure(way: Way): Promise<Figures> {
  console.error(`${way.name} …`)
  const idle = way.pid === null ? Number.NaN : await megabytesOf(way.pid)
  // Cold code would be slower.
  await loadOn(way, 4, null)
  const paced = await loadOn(way, 16, 100)
  const full = await loadOn(way, 16, null)
  const first = await untilFirstBytes(way)
  return { way, idle, paced, full, first, memory: await whileStreaming(way) }
}

function print(figures: readonly Figures[]): void {
  const [straight] = figures
  const added = (value: number, base: number | undefined) =>
    base === value ? number(value, 1) : `+${number(value - (base ?? 0), 1)}`
  console.log(
    toTable(figures, [
      ['', ({ way }) => way.name],
      ['p50 ms at 100/s', ({ paced }) => added(paced.ack.p50, straight?.paced.ack.p50)],
      ['p99 ms', ({ paced }) => added(paced.ack.p99, straight?.paced.ack.p99)],
      ['requests/s', ({ full }) => number(full.accepted / full.seconds)],
      ['first byte ms', ({ first }) => added(first.p50, straight?.first.p50)],
      ['MB idle', ({ idle }) => number(idle)],
      [`MB, ${streams} streams`, ({ memory }) => number(memory?.streaming ?? Number.NaN)],
      ['opened', ({ memory }) => number(memory?.open ?? Number.NaN)],
      ['statuses', ({ paced, full }) => JSON.stringify([paced.statuses, full.statuses])],
    ]),
  )
}

const ways: Way[] = []
try {
  const engine = await startEngine()
  ways.push(engine)
  ways.push(await startForge(engine))
  const figures = [await measure(engine), await measure(ways[1] as Way)]
  if (!values.alone) {
    const litellm = await startLitellm(engine)
    ways.push(litellm)
    figures.push(await measure(litellm))
  }
  print(figures)
} finally {
  for (const way of ways.reverse()) await way.stop()
}
