import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { askApi } from '../test/servers/api.ts'
import { until } from '../test/servers/until.ts'
import { casesOf, lockPath } from './admission/cases.ts'
import { prepare } from './admission/stage.ts'
import { duel, type Score } from './compare/duel.ts'
import { type Ratio, ratioOf } from './compare/ratio.ts'
import type { Work } from './load/plan.ts'
import { createRuns } from './rig/api.ts'
import { findPostmaster } from './rig/database.ts'
import { type KafkaBroker, startKafka } from './rig/kafka.ts'
import { processorSeconds } from './rig/processor-time.ts'
import { spreadOf } from './rig/quantile.ts'
import { type Server, startServer } from './rig/server.ts'
import { number, toTable } from './rig/table.ts'

const usage = `npm run bench:compare -- --server DIR --server DIR [options]
Loads two checkouts in turn, a fraction of a second each, where the machine is too restless to measure one after the other.
  --profile NAME   embedded or kafka (embedded)
  --only LIST      the cases whose names contain one of these (all)
  --rounds N       (20)
  --seconds N      for each server in a round of a case (2)
  --slice MS       (200)
  --without LIST   settings of the tests' servers that an older checkout does not know, such as SERVICE_DISK_RESERVE_MB
  --json FILE      also writes all figures there`

type Options = {
  checkouts: string[]
  kafka: boolean
  only: string[]
  rounds: number
  seconds: number
  sliceMs: number
  without: string[]
  json: string | null
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      server: { type: 'string', multiple: true, default: [] },
      profile: { type: 'string', default: 'embedded' },
      only: { type: 'string', default: '' },
      rounds: { type: 'string', default: '20' },
      seconds: { type: 'string', default: '2' },
      slice: { type: 'string', default: '200' },
      without: { type: 'string', default: '' },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  const isRight = values.server.length === 2 && ['embedded', 'kafka'].includes(values.profile)
  if (values.help || !isRight) {
    console.error(usage)
    process.exit(values.help ? 0 : 2)
  }
  return {
    checkouts: values.server.map(folder => resolve(folder)),
    kafka: values.profile === 'kafka',
    only: values.only.split(','),
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    sliceMs: Number(values.slice),
    without: values.without.split(',').filter(Boolean),
    json: values.json ?? null,
  }
}

type Asked = { work: Work; connections: number }

type Stage = {
  host: string
  port: number
  /** By name of the case. */
  works: ReadonlyMap<string, Asked>
  processorSeconds(): Promise<number>
  close(): Promise<void>
}

async function openStage(checkout: string, { kafka, without }: Options): Promise<Stage> {
  const broker = kafka ? await startKafka() : null
  const roles = { SERVICE_ROLES: 'command-api,relay,projector,query-api' }
  const env = broker ? { ...roles, SERVICE_KAFKA_BROKERS: broker.address } : roles
  const server = await startServer({ env, checkout, without })
  const { hostname: host, port } = new URL(server.url)
  return {
    host,
    port: Number(port),
    works: await worksOf(server.url),
    processorSeconds: async () => processorSeconds(await pidsOf(server, broker)),
    async close() {
      await server.stop()
      await server.remove()
      await broker?.stop()
    },
  }
}

async function pidsOf(server: Server, broker: KafkaBroker | null): Promise<number[]> {
  const postmaster = await findPostmaster(server.dataDir)
  return [server.pid(), postmaster?.pid, broker?.pid()].flatMap(pid => pid ?? [])
}

async function worksOf(url: string): Promise<Map<string, Asked>> {
  const token = await prepare(url)
  const lock = await askApi(url, 'GET', lockPath, { token })
  const runs = await createRuns(url, token, 'bench', 64)
  const reports = (points: number): [string, Asked] => [
    `report, ${number(points)} points`,
    { work: { runs, points }, connections: 64 },
  ]
  return new Map<string, Asked>([
    reports(1000),
    reports(16),
    ...casesOf(token, lock).map(({ name, calls }): [string, Asked] => [
      name,
      { work: { calls }, connections: 8 },
    ]),
  ])
}

type Round = { scores: Score[]; cpuMs: number[] }
type Case = { name: string; rounds: Round[] }

const idleWithinMs = 120_000

/** Resolves when the servers have finished the work that the load caused, such as projections. */
async function idle(stages: readonly Stage[]): Promise<void> {
  const used = () => Promise.all(stages.map(stage => stage.processorSeconds()))
  let before = await used()
  const isIdle = async () => {
    const now = await used()
    const grown = now.map((value, index) => value - (before[index] ?? 0))
    before = now
    return grown.every(seconds => seconds < 0.1)
  }
  await until('the servers have nothing to do', idleWithinMs, isIdle, 500)
}

async function playRound(
  stages: readonly Stage[],
  name: string,
  options: Options,
  round = 0,
): Promise<Round> {
  const asked = stages.flatMap(({ host, port, works }) => {
    const found = works.get(name)
    return found ? [{ host, port, ...found }] : []
  })
  const before = await Promise.all(stages.map(stage => stage.processorSeconds()))
  const scores = await duel(asked, {
    connections: asked[0]?.connections ?? 1,
    slices: 2 * Math.ceil((options.seconds * 500) / options.sliceMs),
    first: round % 2,
    sliceMs: options.sliceMs,
  })
  await idle(stages)
  const after = await Promise.all(stages.map(stage => stage.processorSeconds()))
  return { scores, cpuMs: after.map((value, index) => (value - (before[index] ?? 0)) * 1000) }
}

/**
 * Cold code would be slower. A submit returns its place, and the count stops at 2,000 jobs ahead: behind that many, it costs the
 * same however many jobs came before.
 */
async function warmUp(stages: readonly Stage[], name: string, options: Options): Promise<void> {
  const wanted = name.startsWith('submit') ? 2000 : 1
  for (let least = 0; least < wanted; ) {
    const { scores } = await playRound(stages, name, options)
    least += Math.min(...scores.map(score => score.requests))
  }
}

async function measure(stages: readonly Stage[], options: Options): Promise<Case[]> {
  const cases: Case[] = []
  for (const name of stages[0]?.works.keys() ?? []) {
    if (!options.only.some(text => name.includes(text))) continue
    await warmUp(stages, name, options)
    const rounds: Round[] = []
    while (rounds.length < options.rounds)
      rounds.push(await playRound(stages, name, options, rounds.length))
    cases.push({ name, rounds })
    console.error(tableOf(cases.slice(-1)).split('\n').at(-1))
  }
  return cases
}

function tableOf(cases: readonly Case[]): string {
  const shares = ({ rounds }: Case, side: number, what: 'time' | 'cpu') =>
    rounds.map(({ scores, cpuMs }) => {
      const score = scores[side]
      const requests = score?.requests ?? 0
      return what === 'time'
        ? { of: requests, in: score?.ms ?? 0 }
        : { of: cpuMs[side] ?? 0, in: requests }
    })
  const both = (of: Case, side: number) => {
    const scores = of.rounds.flatMap(round => round.scores[side] ?? [])
    const requests = scores.reduce((sum, score) => sum + score.requests, 0)
    const cpu = of.rounds.reduce((sum, round) => sum + (round.cpuMs[side] ?? 0), 0)
    return {
      perSecond: (requests * 1000) / scores.reduce((sum, score) => sum + score.ms, 0),
      cpu: cpu / requests,
      ...spreadOf(scores.flatMap(score => score.latencies)),
    }
  }
  const pair = (of: Case, field: 'perSecond' | 'cpu' | 'p50' | 'p99', digits: number) =>
    [0, 1].map(side => number(both(of, side)[field], digits)).join(' → ')
  const range = ({ ratio, low, high }: Ratio) =>
    `${number(ratio, 3)} (${number(low, 3)}–${number(high, 3)})`
  return toTable(cases, [
    ['case', of => of.name],
    ['requests/s', of => pair(of, 'perSecond', 0)],
    ['times', of => range(ratioOf(shares(of, 0, 'time'), shares(of, 1, 'time')))],
    ['CPU ms/request', of => pair(of, 'cpu', 2)],
    ['times', of => range(ratioOf(shares(of, 0, 'cpu'), shares(of, 1, 'cpu')))],
    ['p50 ms', of => pair(of, 'p50', 1)],
    ['p99 ms', of => pair(of, 'p99', 1)],
    ['statuses', ({ rounds }) => JSON.stringify(rounds.at(-1)?.scores.map(s => s.statuses))],
  ])
}

const options = readOptions()
const stages: Stage[] = []
try {
  for (const checkout of options.checkouts) stages.push(await openStage(checkout, options))
  const cases = await measure(stages, options)
  console.log(
    `\nFirst server → second; times: the second by the first (95 % interval).\n\n${tableOf(cases)}`,
  )
  if (options.json)
    await writeFile(
      options.json,
      `${JSON.stringify({ options, cases: cases.map(({ name, rounds }) => ({ name, rounds: rounds.map(({ scores, cpuMs }) => ({ cpuMs, scores: scores.map(({ latencies: _, ...rest }) => rest) })) })) }, null, 2)}\n`,
    )
} finally {
  await Promise.all(stages.map(stage => stage.close()))
}
