import type { Command } from 'commander'
import { describeProfileSet, profileSet } from '../profiles/profiles.ts'
import { speakingIn } from '../program/add-commands.ts'
import type { World } from '../program/session.ts'
import {
  describeRuleList,
  describeRuleRemove,
  describeRuleSet,
  ruleList,
  ruleRemove,
  ruleSet,
} from './approval-rules.ts'
import { backup, describeBackup, describeRestoreBackup, restoreBackup } from './backup.ts'
import { correct, describeCorrect } from './correct.ts'
import {
  deadLetterDrop,
  deadLetterList,
  deadLetterReplay,
  deadLetterShow,
  describeDeadLetterDrop,
  describeDeadLetterList,
  describeDeadLetterReplay,
  describeDeadLetterShow,
} from './dead-letters.ts'
import {
  describeDutyDrop,
  describeDutyList,
  describeDutyRetry,
  dutyDrop,
  dutyList,
  dutyRetry,
} from './duties.ts'
import {
  describeMaintenanceOff,
  describeMaintenanceOn,
  describeMaintenanceStatus,
  maintenanceOff,
  maintenanceOn,
  maintenanceStatus,
} from './maintenance.ts'
import {
  describePluginCalls,
  describePluginList,
  describePluginRemove,
  describePluginSet,
  describePluginTest,
  pluginCalls,
  pluginList,
  pluginRemove,
  pluginSet,
  pluginTest,
} from './plugins.ts'
import {
  describeProjections,
  describeRebuild,
  describeRotateKeys,
  projections,
  rebuild,
  rotateKeys,
} from './projections.ts'
import {
  describeDrain,
  describeQueuePause,
  describeQueueResume,
  describeQueueStatus,
  describeUndrain,
  drain,
  queuePause,
  queueResume,
  queueStatus,
  undrain,
} from './queue.ts'
import { describeQuotaGet, describeQuotaSet, quotaGet, quotaSet } from './quota.ts'
import { describeRatesList, describeRatesSet, ratesList, ratesSet } from './rates.ts'
import {
  describeRecipeAdd,
  describeRecipeDeprecate,
  recipeAdd,
  recipeDeprecate,
} from './recipes.ts'
import { describeRepublish, republish } from './republish.ts'
import { describeResetPassword, resetPassword } from './reset-password.ts'
import { describeRetention, retention } from './retention.ts'
import {
  describeUserAdd,
  describeUserDisable,
  describeUserEnable,
  describeUserList,
  describeUserRemoveSecondFactor,
  describeUserSet,
  userAdd,
  userDisable,
  userEnable,
  userList,
  userRemoveSecondFactor,
  userSet,
} from './users.ts'

type Ended = (code: number) => void

/** `forge admin …`: commands for administrators. */
export function addAdministration(program: Command, world: World, ended: Ended): void {
  const admin = program.command('admin').description('administer the server')
  const speaking = speakingIn(admin, world, ended)
  addUsers(admin.command('users').description('people who may sign in'), world, ended)
  addQuotas(admin.command('quota').description('the limits of a user'), world, ended)
  addRates(admin.command('rates').description('prices by series'), world, ended)
  addRules(admin.command('approval-rule').description('what waits for approval'), world, ended)
  addQueue(admin.command('queue').description('whether jobs start'), world, ended)
  speaking({
    drain: [describeDrain, drain],
    undrain: [describeUndrain, undrain],
  })
  addMaintenance(
    admin.command('maintenance').description('switch maintenance on and off'),
    world,
    ended,
  )
  addDuties(admin.command('duties').description('the follow-up work of events'), world, ended)
  addDeadLetters(
    admin.command('dead-letters').description('reports that could not be applied'),
    world,
    ended,
  )
  addRecipes(admin.command('recipe').description('recipes of the catalogue'), world, ended)
  addPlugins(admin.command('plugin').description('services that Forge asks'), world, ended)
  const profile = admin.command('profile').description('hardware for jobs')
  speakingIn(profile, world, ended)({ set: [describeProfileSet, profileSet] })
  speaking({
    correct: [describeCorrect, correct],
    retention: [describeRetention, retention],
    projections: [describeProjections, projections],
    rebuild: [describeRebuild, rebuild],
    'rotate-keys': [describeRotateKeys, rotateKeys],
  })
  describeBackup(admin.command('backup')).action(async (folder, options) =>
    ended(await backup(world, folder, options)),
  )
  describeRestoreBackup(admin.command('restore')).action(async (folder, options) =>
    ended(await restoreBackup(world, folder, options)),
  )
  describeRepublish(admin.command('republish')).action(async options =>
    ended(await republish(world, options)),
  )
  describeResetPassword(admin.command('reset-password')).action(async (username, options) =>
    ended(await resetPassword(world, username, options)),
  )
}

function addUsers(users: Command, world: World, ended: Ended): void {
  const speaking = speakingIn(users, world, ended)
  speaking({
    list: [describeUserList, userList],
    add: [describeUserAdd, userAdd],
    set: [describeUserSet, userSet],
    disable: [describeUserDisable, userDisable],
    enable: [describeUserEnable, userEnable],
    'remove-second-factor': [describeUserRemoveSecondFactor, userRemoveSecondFactor],
  })
}

function addRecipes(recipe: Command, world: World, ended: Ended): void {
  const speaking = speakingIn(recipe, world, ended)
  speaking({
    add: [describeRecipeAdd, recipeAdd],
    deprecate: [describeRecipeDeprecate, recipeDeprecate],
  })
}

function addQuotas(quota: Command, world: World, ended: Ended): void {
  const speaking = speakingIn(quota, world, ended)
  speaking({
    get: [describeQuotaGet, quotaGet],
    set: [describeQuotaSet, quotaSet],
  })
}

function addPlugins(plugin: Command, world: World, ended: Ended): void {
  const speaking = speakingIn(plugin, world, ended)
  speaking({
    ls: [describePluginList, pluginList],
    set: [describePluginSet, pluginSet],
    rm: [describePluginRemove, pluginRemove],
    test: [describePluginTest, pluginTest],
    calls: [describePluginCalls, pluginCalls],
  })
}

function addRules(rules: Command, world: World, ended: Ended): void {
  const speaking = speakingIn(rules, world, ended)
  speaking({
    ls: [describeRuleList, ruleList],
    set: [describeRuleSet, ruleSet],
    rm: [describeRuleRemove, ruleRemove],
  })
}

function addRates(rates: Command, world: World, ended: Ended): void {
  const speaking = speakingIn(rates, world, ended)
  speaking({
    ls: [describeRatesList, ratesList],
    set: [describeRatesSet, ratesSet],
  })
}

function addQueue(queue: Command, world: World, ended: Ended): void {
  const speaking = speakingIn(queue, world, ended)
  speaking({
    pause: [describeQueuePause, queuePause],
    resume: [describeQueueResume, queueResume],
    status: [describeQueueStatus, queueStatus],
  })
}

function addDuties(duties: Command, world: World, ended: Ended): void {
  const speaking = speakingIn(duties, world, ended)
  speaking({
    list: [describeDutyList, dutyList],
    retry: [describeDutyRetry, dutyRetry],
    drop: [describeDutyDrop, dutyDrop],
  })
}

function addDeadLetters(letters: Command, world: World, ended: Ended): void {
  const speaking = speakingIn(letters, world, ended)
  speaking({
    list: [describeDeadLetterList, deadLetterList],
    show: [describeDeadLetterShow, deadLetterShow],
    replay: [describeDeadLetterReplay, deadLetterReplay],
    drop: [describeDeadLetterDrop, deadLetterDrop],
  })
}

function addMaintenance(maintenance: Command, world: World, ended: Ended): void {
  const speaking = speakingIn(maintenance, world, ended)
  speaking({
    on: [describeMaintenanceOn, maintenanceOn],
    off: [describeMaintenanceOff, maintenanceOff],
    status: [describeMaintenanceStatus, maintenanceStatus],
  })
}
