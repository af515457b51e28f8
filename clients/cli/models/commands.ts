import type { Command } from 'commander'
import { speakingIn } from '../program/add-commands.ts'
import type { World } from '../program/session.ts'
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
} from './models.ts'

/** `forge model …`: registered models, their versions and aliases. */
export function addModels(program: Command, world: World, ended: (code: number) => void): void {
  const model = program
    .command('model')
    .description('registered models, their versions and aliases')
  speakingIn(
    model,
    world,
    ended,
  )({
    ls: [describeModelList, modelList],
    show: [describeModelShow, modelShow],
    register: [describeModelRegister, modelRegister],
    alias: [describeModelAlias, modelAlias],
    history: [describeModelHistory, modelHistory],
  })
}
