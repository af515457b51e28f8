import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from 'pg'
import { metricsRequest } from '../load/request.ts'
import { copyBinary } from './copy.ts'

/** Limits of this machine, measured in the same session as the figures compared with them. */
export type MachineLimits = {
  /** Parsing the points of the same request body, on one thread. */
  jsonParsePointsPerSecond: number
  /** Rows (run, key, step, value, ts) by binary COPY into a table without indexes, on one connection. */
  copyRowsPerSecond: number
  /** Sequential writes of 4 KiB, each with fsync. */
  fsyncsPerSecond: number
}

export async function measureLimits(
  client: Client,
  folder: string,
  points: number,
): Promise<MachineLimits> {
  return {
    jsonParsePointsPerSecond: jsonParseRate(points),
    copyRowsPerSecond: await copyRate(client),
    fsyncsPerSecond: await fsyncRate(folder),
  }
}

const measureMs = 1_000

function jsonParseRate(points: number): number {
  const { bytes } = metricsRequest({ host: 'x', runId: 'run_x', token: 'x' }, points, 1)
  const body = bytes.subarray(bytes.indexOf('\r\n\r\n') + 4)
  const parseAll = (untilMs: number) => {
    let bodies = 0
    for (const began = performance.now(); performance.now() - began < untilMs; bodies++)
      JSON.parse(body.toString('utf8'))
    return bodies
  }
  parseAll(measureMs / 4)
  return (parseAll(measureMs) * points * 1000) / measureMs
}

const rowsPerCopy = 20_000

async function copyRate(client: Client): Promise<number> {
  await client.query(
    'create table if not exists public.bench_copy (run int4, key int4, step int8, value float8, ts int8)',
  )
  try {
    const rows = binaryRows(rowsPerCopy)
    const copy = () =>
      copyBinary(client, 'copy public.bench_copy from stdin with (format binary)', rows)
    await copy()
    let copied = 0
    const began = performance.now()
    for (; performance.now() - began < measureMs; copied += rowsPerCopy) await copy()
    return (copied * 1000) / (performance.now() - began)
  } finally {
    await client.query('drop table public.bench_copy')
  }
}

const signature = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const rowBytes = 2 + (4 + 4) * 2 + (4 + 8) * 3

/** PostgreSQL documentation, COPY, "Binary Format". */
function binaryRows(count: number): Buffer {
  const rows = Buffer.alloc(count * rowBytes)
  for (let row = 0, at = 0; row < count; row++) {
    at = rows.writeInt16BE(5, at)
    for (const whole of [row % 64, row % 16]) {
      at = rows.writeInt32BE(4, at)
      at = rows.writeInt32BE(whole, at)
    }
    at = rows.writeInt32BE(8, at)
    at = rows.writeBigInt64BE(BigInt(row), at)
    at = rows.writeInt32BE(8, at)
    at = rows.writeDoubleBE(row / 7, at)
    at = rows.writeInt32BE(8, at)
    at = rows.writeBigInt64BE(1_800_000_000_000n, at)
  }
  return Buffer.concat([signature, rows, Buffer.from([0xff, 0xff])])
}

async function fsyncRate(folder: string): Promise<number> {
  const path = join(folder, 'fsync.measure')
  const file = await open(path, 'w')
  try {
    const page = Buffer.alloc(4096, 1)
    let writes = 0
    const began = performance.now()
    for (; performance.now() - began < measureMs; writes++) {
      await file.write(page)
      await file.datasync()
    }
    return (writes * 1000) / (performance.now() - began)
  } finally {
    await file.close()
    await rm(path, { force: true })
  }
}
