import type { Command } from 'commander'
import { speakingIn } from '../program/add-commands.ts'
import type { World } from '../program/session.ts'
import {
  describeRubricCancel,
  describeRubricJudge,
  describeRubricJudgings,
  describeRubricTest,
  rubricCancel,
  rubricJudge,
  rubricJudgings,
  rubricTest,
} from './judge.ts'

/** `forge rubric …`: scores of samples by a deployment that judges. */
export function addRubrics(program: Command, world: World, ended: (code: number) => void): void {
  const rubric = program.command('rubric').description('judge samples by a rubric')
  speakingIn(
    rubric,
    world,
    ended,
  )({
    test: [describeRubricTest, rubricTest],
    judge: [describeRubricJudge, rubricJudge],
    judgings: [describeRubricJudgings, rubricJudgings],
    cancel: [describeRubricCancel, rubricCancel],
  })
}
