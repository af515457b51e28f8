import test from 'ava'
import { diagnose } from '../../command-api/diagnoses/rules/diagnose.ts'
import { factsOf } from './given.ts'
import { machineFailures } from './machine-failures.ts'
import { programFailures } from './program-failures.ts'

for (const [family, texts] of Object.entries({ ...machineFailures, ...programFailures }))
  for (const [category, subcategory, log] of texts)
    test(`${family}: ${log.split('\n').at(-1)?.slice(0, 70)} is ${category}`, t => {
      const noise = Array.from({ length: 30 }, (_, step) => `step ${step} loss 0.${step}`).join(
        '\n',
      )
      const { evidence, ...told } = diagnose(factsOf({ log: `${noise}\n${log}` }))
      t.like(told, { category, subcategory })
      t.true(told.confidence >= 0.5)
      const [first] = evidence
      t.true(first?.kind === 'log' && 'offset' in first.ref && first.ref.offset > 30)
    })
