import { ApiError, askApi } from '../../test/servers/api.ts'
import { type Operation, pointRegister, type Write } from '../../test/whole/chaos/operations.ts'

/** Reads the registers of `operations.ts` back through the API. */
export type Reader = { url: string; token: string }

/** The stored result of an operation; metrics can be limited to `keys`. */
export async function readBack(
  reader: Reader,
  operation: Operation,
  keys?: readonly string[],
): Promise<Write[]> {
  switch (operation.kind) {
    case 'metrics':
      return readPoints(reader, operation.run, keys)
    case 'logs':
      return asWritten(await readLines(reader, operation.run))
    case 'hparams':
      return readParams(reader, operation.run)
    case 'rubric':
      return readRubric(reader, `${operation.owner}/${operation.name}`)
    case 'run':
      return readRuns(reader, operation.project)
  }
}

export const asWritten = (lines: readonly string[]): Write[] =>
  lines.map(register => ({ register, value: 'written' }))

type KeyRow = { key: string; first_step: number; last_step: number }
type Series = {
  key: string
  bucketed: boolean
  /** step, min, max, mean, last, ts */
  points: [number, number, number, number, number, number][]
}

/** Steps per read: few enough to be returned unbucketed. */
const stepsPerRead = 500

/** Every stored point of a run (only of `only`, if given); duplicates in the response are kept. */
async function readPoints(reader: Reader, run: string, only?: readonly string[]): Promise<Write[]> {
  const keys = await read<KeyRow[]>(reader, `/api/runs/${run}/metrics/keys`)
  const found: Write[] = []
  for (const row of keys.filter(({ key }) => only?.includes(key) ?? true))
    for (let from = row.first_step; from <= row.last_step; from += stepsPerRead)
      found.push(...(await readWindow(reader, run, { ...row, first_step: from })))
  return found
}

async function readWindow(reader: Reader, run: string, window: KeyRow): Promise<Write[]> {
  const { key, first_step, last_step } = window
  const query = new URLSearchParams({
    keys: key,
    from: String(first_step),
    to: String(Math.min(last_step, first_step + stepsPerRead - 1)),
    buckets: String(stepsPerRead),
  })
  const all = await read<Series[]>(reader, `/api/runs/${run}/metrics?${query}`)
  if (all.some(series => series.bucketed))
    throw new Error(`${stepsPerRead} steps of ${key} came back in buckets`)
  return all.flatMap(series =>
    series.points.map(([step, , , , last]) => ({
      register: pointRegister(series.key, step),
      value: String(last),
    })),
  )
}

const read = <T>({ url, token }: Reader, path: string) => askApi<T>(url, 'GET', path, { token })

type LogRow = { seq: number; text: string }
const linesPerRead = 500

/** All lines of a run, in order. Throws if their numbers have gaps. */
export async function readLines(reader: Reader, run: string): Promise<string[]> {
  const lines: string[] = []
  for (;;) {
    const path = `/api/runs/${run}/logs?after=${lines.length}&limit=${linesPerRead}`
    const rows = await read<LogRow[]>(reader, path)
    for (const { seq, text } of rows) {
      if (seq !== lines.length + 1)
        throw new Error(`line ${seq} of ${run} stands where ${lines.length + 1} should`)
      lines.push(text)
    }
    if (rows.length < linesPerRead) return lines
  }
}

async function readParams(reader: Reader, run: string): Promise<Write[]> {
  const { params } = await read<{ params: Record<string, unknown> }>(
    reader,
    `/api/runs/${run}/hparams`,
  )
  return Object.entries(params).map(([register, value]) => ({ register, value: String(value) }))
}

/** The description that the load writes; empty if the rubric does not exist. */
async function readRubric(reader: Reader, path: string): Promise<Write[]> {
  try {
    const rubric = await read<{ description: string }>(reader, `/api/rubrics/${path}`)
    return [{ register: 'description', value: rubric.description }]
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return []
    throw error
  }
}

const runsPerRead = 500

async function readRuns(reader: Reader, project: string): Promise<Write[]> {
  const found: Write[] = []
  for (;;) {
    const path = `/api/runs?project=${project}&limit=${runsPerRead}&offset=${found.length}`
    const rows = await read<{ name: string }[]>(reader, path)
    found.push(...rows.map(({ name }) => ({ register: name, value: 'created' })))
    if (rows.length < runsPerRead) return found
  }
}
