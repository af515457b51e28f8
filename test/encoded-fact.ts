import { encodeFact, type FactStamp, stampedFact, type UnstampedFact } from '../events/fact.ts'

/** The value of a fact's record on the log, as the run itself reported it. */
export const encodedFact = (fact: UnstampedFact, receivedAtMs = 0): Buffer =>
  encodeFact(stampedFact(fact, stampOfRun(fact.run_id, receivedAtMs), eventIdOfTest))

export const eventIdOfTest = '0199e2c4-5b7a-7c11-8c2e-3f1a5b6c7d8e'

export const stampOfRun = (run_id: string, receivedAtMs = 0): FactStamp => ({
  actor: { type: 'run', id: run_id, via: 'ingest_token' },
  requestId: 'req-00000001',
  now: new Date(receivedAtMs),
})
