import type { Command } from 'commander'
import { speakingIn } from '../program/add-commands.ts'
import type { World } from '../program/session.ts'
import {
  budgetList,
  budgetRemove,
  budgetSet,
  describeBudgetList,
  describeBudgetRemove,
  describeBudgetSet,
} from './budget.ts'

/** `forge budget …`: how much people and projects may spend in a month. */
export function addBudgets(program: Command, world: World, ended: (code: number) => void): void {
  const budget = program.command('budget').description('how much may be spent in a month')
  speakingIn(
    budget,
    world,
    ended,
  )({
    ls: [describeBudgetList, budgetList],
    set: [describeBudgetSet, budgetSet],
    rm: [describeBudgetRemove, budgetRemove],
  })
}
