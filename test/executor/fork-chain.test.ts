import path from 'node:path'
import test from 'ava'
import { attemptPaths } from '../../executor/attempts/attempt-directory.ts'
import { exitOf, launch } from './attempts.ts'
import { claimOf } from './doomed.ts'
import { forkChainCommand, grows } from './fork-chain.ts'
import { benchWith } from './local-bench.ts'
import { whatHolds } from './what-holds.ts'

const modes = Object.entries({ ...(await whatHolds()), none: null })
  .filter(([, fault]) => fault === null)
  .map(([mode]) => mode as 'bubblewrap' | 'user' | 'landlock' | 'none')

for (const mode of modes)
  test(`${mode}: a chain of forks does not outlive its run`, async t => {
    const { executor, runsDirectory } = await benchWith(mode)(t)
    const ref = await executor.submit(launch({ command: forkChainCommand }))
    const { ended_at, exit_code } = await exitOf(executor, ref)
    t.is(exit_code, 0, 'the first link')
    t.truthy(ended_at)
    const claim = await claimOf(runsDirectory, ref)
    // docs/operate/security.md: without a control group these two hold nothing that leaves its session.
    if (claim?.cgroup === null && (mode === 'landlock' || mode === 'none'))
      t.truthy(claim.no_cgroup_reason)
    else t.false(await grows(attemptPaths(path.join(runsDirectory, ref)).rank(0).stdout))
  })
