import test from 'ava'
import { pageOfMlflow } from '../../clients/console/src/shell/mlflow-address.ts'

test("the address of a run that MLflow's client prints leads to the page of that run", t => {
  t.is(
    pageOfMlflow('/', '#/experiments/demo/runs/run_01KAFHVPSR4M3ZK1'),
    '/runs/run_01KAFHVPSR4M3ZK1',
  )
  t.is(pageOfMlflow('/', '#/experiments/demo'), '/')
})

test('anything else after # leads nowhere', t => {
  for (const hash of ['', '#', '#runs', '#/experiments/demo/runs///evil.example', '#/runs/run_1'])
    t.true([null, '/'].includes(pageOfMlflow('/', hash)), hash)
})
