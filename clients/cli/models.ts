import type { Command } from 'commander'
import {
  describeModelAlias,
  describeModelHistory,
  describeModelList,
  describeModelRegister,
  describeModelShow,
  modelAlias,
  modelHistory,
  modelList,
  modelRegister,
  modelShow,
} from './commands/model.ts'
import type { World } from './session.ts'
import { speakingIn } from './speaking.ts'

/** `forge model …`: registered models, their versions and aliases. */
export function addModels(program: Command, world: World, ended: (code: number) => void): void {
  const model = program.command('model').description('names for the results of runs')
  const speaking = speakingIn(model, world, ended)
  speaking('ls', describeModelList, modelList)
  speaking('show', describeModelShow, modelShow)
  speaking('register', describeModelRegister, modelRegister)
  speaking('alias', describeModelAlias, modelAlias)
  speaking('history', describeModelHistory, modelHistory)
}
