import { join } from 'node:path'
import { startBroker } from '../../deploy/kafka/broker.ts'
import type { Hosted } from './hosted.ts'

/** A broker for one test run; its data is discarded, so it need not shut down cleanly. */
export async function startKafka(folder: string): Promise<Hosted> {
  const broker = await startBroker({ folder: join(folder, 'broker') })
  return { address: broker.address, stop: () => broker.stop('SIGKILL') }
}
