import type { Command } from 'commander'
import { describeInit, init } from '../jobs/init.ts'
import { describeProfileList, profileList } from '../profiles/profiles.ts'
import { speakingIn } from '../program/add-commands.ts'
import type { World } from '../program/session.ts'
import {
  describeRecipeList,
  describeRecipeLock,
  describeRecipeShow,
  recipeList,
  recipeLock,
  recipeShow,
} from './recipes.ts'

/** `forge init`, `forge recipe …` and `forge profile …`: what jobs can be made of, and where they run. */
export function addRecipes(program: Command, world: World, ended: (code: number) => void): void {
  speakingIn(program, world, ended)({ init: [describeInit, init] })
  const recipe = program.command('recipe').description('recipes for jobs')
  const speaking = speakingIn(recipe, world, ended)
  speaking({
    list: [describeRecipeList, recipeList],
    show: [describeRecipeShow, recipeShow],
    lock: [describeRecipeLock, recipeLock],
  })
  const profile = program.command('profile').description('hardware for jobs')
  speakingIn(profile, world, ended)({ list: [describeProfileList, profileList] })
}
