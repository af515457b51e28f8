import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Broker, startBroker } from '../../deploy/kafka/broker.ts'
import { freePort } from '../../platform/free-port.ts'

/** A real broker on a data folder that goes with it. */
export type KafkaBroker = {
  address: string
  pid(): number | null
  /** Ends it as a crash would and starts it again in the background; null where it was down anyway. */
  killAndRestart(): Promise<number | null>
  /** Resolves when the last start has come to its end. */
  settled(): Promise<void>
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
    settled: () => starting,
    async stop() {
      await starting.catch(() => {})
      await broker?.stop('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
