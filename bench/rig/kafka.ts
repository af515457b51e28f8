import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Broker, startBroker } from '../../deploy/kafka/broker.ts'
import { freePort } from '../../platform/free-port.ts'

/** A real broker with its own temporary data folder. */
export type KafkaBroker = {
  address: string
  pid(): number | null
  /** Kills the broker and restarts it in the background; null if it was already down. */
  killAndRestart(): Promise<number | null>
  /** Resolves when the last start has finished. */
  started(): Promise<void>
  stop(): Promise<void>
}

export async function startKafka(): Promise<KafkaBroker> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-kafka-'))
  const port = await freePort()
  let broker: Broker | null = await startBroker({ folder, port })
  let starting: Promise<void> = Promise.resolve()
  const restart = async () => {
    broker = await startBroker({ folder, port })
  }
  return {
    address: `127.0.0.1:${port}`,
    pid: () => broker?.pid ?? null,
    async killAndRestart() {
      const running = broker
      if (!running) return null
      broker = null
      await running.stop('SIGKILL')
      starting = restart()
      return running.pid
    },
    started: () => starting,
    async stop() {
      await starting.catch(() => {})
      await broker?.stop('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
