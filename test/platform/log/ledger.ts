import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'
import type { EventLog, ReadRecord } from '../../../platform/log/event-log.ts'
import { until } from '../../servers/until.ts'
import type { Line, Order } from './appending-process.ts'
import { take } from './contract.ts'

/** An appending process and its output so far. */
export type Appending = {
  acked: Map<string, { partition: number; offset: bigint }>
  unknown: Set<string>
  kill(): Promise<void>
  /** Lets it end cleanly; throws with its output if it fails. */
  finish(): Promise<void>
  /** Resolves once `count` more records are acknowledged than at the call. */
  ackedMore(count: number, withinMs: number): Promise<void>
}

const script = fileURLToPath(new URL('appending-process.ts', import.meta.url))

export function startAppending(t: ExecutionContext, order: Order): Appending {
  const child = spawn(process.execPath, [script, JSON.stringify(order)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  const acked: Appending['acked'] = new Map()
  const unknown: Appending['unknown'] = new Set()
  const complaints = complaintsOf(child)
  createInterface({ input: child.stdout }).on('line', text => {
    const line: Line = JSON.parse(text)
    if ('unknown' in line) unknown.add(line.unknown)
    else acked.set(line.acked.text, { ...line.acked, offset: BigInt(line.acked.offset) })
  })
  return {
    acked,
    unknown,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    async finish() {
      child.stdin.end()
      const code = await ended
      if (code !== 0) throw new Error(`${order.name} ended with ${code}: ${complaints()}`)
    },
    async ackedMore(count, withinMs) {
      const before = acked.size
      await until(`${order.name} has ${count} more acknowledged`, withinMs, () => {
        if (child.exitCode !== null) throw new Error(`${order.name} ended: ${complaints()}`)
        return acked.size >= before + count
      })
    },
  }
}

/** Appends from two processes at once, kills one, and returns both once the other has continued and ended. */
export async function appendAndKillOne(
  t: ExecutionContext,
  order: Omit<Order, 'name'>,
): Promise<Appending[]> {
  const killed = startAppending(t, { ...order, name: 'first' })
  const other = startAppending(t, { ...order, name: 'second' })
  await Promise.all([killed.ackedMore(300, 30_000), other.ackedMore(300, 30_000)])
  await killed.kill()
  await other.ackedMore(300, 30_000)
  await other.finish()
  return [killed, other]
}

function complaintsOf(child: ChildProcess): () => string {
  let text = ''
  child.stderr?.setEncoding('utf8').on('data', part => {
    text += part
  })
  return () => text
}

/**
 * Reads everything and checks that each acknowledged record is at its acknowledged offset, that none is stored twice,
 * that offsets are dense, and that the records of a key are in the order of their process's appends.
 */
export async function checkLog(
  t: ExecutionContext,
  log: EventLog,
  topic: string,
  processes: readonly Appending[],
): Promise<void> {
  const ends = await log.end(topic)
  const stored = await Promise.all(
    ends.map((end, partition) => take(log, topic, partition, 0n, Number(end))),
  )
  const seen = new Map<string, string>()
  for (const [partition, records] of stored.entries()) {
    checkOrder(t, records)
    for (const { offset, value } of records) {
      if (seen.has(value.toString())) t.fail(`${value} is stored twice`)
      seen.set(value.toString(), `${partition}/${offset}`)
    }
  }
  for (const { acked } of processes) checkAcked(t, acked, seen)
  const count = (of: 'acked' | 'unknown') => processes.reduce((sum, each) => sum + each[of].size, 0)
  t.log(`${seen.size} stored, ${count('acked')} acknowledged, ${count('unknown')} unknown`)
}

function checkOrder(t: ExecutionContext, records: readonly ReadRecord[]): void {
  const lastOfKey = new Map<string, number>()
  for (const [index, { offset, key, value }] of records.entries()) {
    if (offset !== BigInt(index)) t.fail(`offset ${offset} comes as number ${index}`)
    const number = Number(value.toString().split(':')[1])
    if (number <= (lastOfKey.get(key) ?? -1)) t.fail(`${value} comes after a later one of its key`)
    lastOfKey.set(key, number)
  }
}

function checkAcked(
  t: ExecutionContext,
  acked: Appending['acked'],
  seen: ReadonlyMap<string, string>,
): void {
  t.true(acked.size > 0)
  for (const [text, { partition, offset }] of acked)
    if (seen.get(text) !== `${partition}/${offset}`)
      t.fail(`${text} was acknowledged at ${partition}/${offset} and is at ${seen.get(text)}`)
}
