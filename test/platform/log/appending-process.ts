import { createInterface } from 'node:readline'
import { type EventLog, LogUnavailable } from '../../../platform/log/event-log.ts'
import { openKafkaLog } from '../../../platform/log/kafka.ts'
import { openPostgresLog } from '../../../platform/log/postgres.ts'
import type { Topic } from '../../../platform/log/topic.ts'

// A process to be killed: appends to one topic forever and prints which records were acknowledged where. Its one
// argument is an `Order`; it ends cleanly when its standard input closes.

export type Order = {
  name: string
  topic: Topic
  at: { url: string } | { brokers: string[] }
}

/** A line of its output. `unknown`: the log could not say whether these records are stored. */
export type Line =
  | { acked: { text: string; partition: number; offset: string } }
  | { unknown: string }

const order: Order = JSON.parse(process.argv[2] ?? '')
const log = await open(order)
let isEnding = false
let count = 0
createInterface({ input: process.stdin }).once('close', () => {
  isEnding = true
})
await Promise.all(Array.from({ length: 8 }, appendAgainAndAgain))
await log.close()
process.exit(0)

function open({ at, topic, name }: Order): Promise<EventLog> {
  const topics = [topic]
  return 'url' in at
    ? openPostgresLog({ url: at.url, topics })
    : openKafkaLog({ brokers: at.brokers, clientId: name, topics })
}

async function appendAgainAndAgain(): Promise<void> {
  while (!isEnding) {
    const records = Array.from({ length: 1 + (count % 3) }, () => {
      const number = count++
      // The key depends on the number, so that the order within a key is visible in the texts.
      return { key: `${order.name}-${number % 5}`, value: Buffer.from(`${order.name}:${number}`) }
    })
    try {
      const positions = await log.append(order.topic.name, records)
      for (const [index, { partition, offset }] of positions.entries())
        say({ acked: { text: recordTextOf(records[index]), partition, offset: offset.toString() } })
    } catch (error) {
      if (!(error instanceof LogUnavailable)) throw error
      for (const record of records) say({ unknown: recordTextOf(record) })
      await new Promise(resolve => setTimeout(resolve, 10))
    }
  }
}

function recordTextOf(record: { value: Buffer } | undefined): string {
  return record?.value.toString() ?? ''
}

function say(line: Line): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
