import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { type Broker, type BrokerOptions, startBroker } from '../../../deploy/kafka/broker.ts'

/** A dedicated broker for the test, which can be stopped and restarted at the same address; removed after the test. */
export async function ownBroker(
  t: ExecutionContext,
  ports: Pick<BrokerOptions, 'port' | 'advertisedPort'> = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'forge-test-broker-'))
  let broker: Broker = await startBroker({ folder, ...ports })
  t.teardown(async () => {
    await broker.stop('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })
  const { address } = broker
  return {
    address,
    /** Holds the files of a partition under its name. */
    data: join(folder, 'data'),
    stop: () => broker.stop(),
    kill: () => broker.stop('SIGKILL'),
    async restart() {
      broker = await startBroker({ folder, ...ports, port: Number(address.split(':')[1]) })
    },
  }
}
