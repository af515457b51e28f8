import { parseArgs } from 'node:util'
import { startBroker } from './broker.ts'
import { cacheFolder, KafkaMissing } from './distribution.ts'

// `npm run kafka`: a single-node broker for local use, until Ctrl-C.
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '9092' },
    // The broker's data is kept between starts.
    folder: { type: 'string', default: `${cacheFolder()}/kafka/broker` },
  },
})

try {
  console.error('Starting Kafka (the first time, its jars are downloaded)…')
  const broker = await startBroker({
    folder: values.folder,
    port: Number(values.port),
    javaOptions: ['-Xms256m', '-Xmx1g'],
  })
  console.log(`Kafka is at ${broker.address}; data in ${values.folder}; Ctrl-C stops it.`)
  console.log(`Use it with SERVICE_KAFKA_BROKERS=${broker.address}`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => broker.stop())
} catch (error) {
  if (!(error instanceof Error)) throw error
  console.error(
    error instanceof KafkaMissing ? error.message : `Kafka did not start: ${error.message}`,
  )
  process.exitCode = 1
}
