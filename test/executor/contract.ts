import test, { type ExecutionContext } from 'ava'
import { failureRules } from './contract-failures.ts'
import { launchRules } from './contract-launch.ts'
import { lifeRules } from './contract-life.ts'
import { nodeRules } from './contract-nodes.ts'
import type { Bench, Rule } from './contract-rule.ts'
import { fewAtOnce } from './few-at-once.ts'

/** Registers one test for each rule that every executor must follow. */
export function executorContract(
  executor: string,
  open: (t: ExecutionContext) => Promise<Bench>,
): void {
  const rule: Rule = (title, body) =>
    test(`${executor}: ${title}`, t => fewAtOnce(async () => body(t, await open(t))))
  launchRules(rule)
  lifeRules(rule)
  nodeRules(rule)
  failureRules(rule)
}
