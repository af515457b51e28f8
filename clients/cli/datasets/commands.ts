import type { Command } from 'commander'
import { speakingIn } from '../program/add-commands.ts'
import { removeVersion, versionRemoval } from '../program/remove-version.ts'
import type { World } from '../program/session.ts'
import { datasetCheck, describeDatasetCheck } from './check.ts'
import {
  datasetDeprecate,
  datasetGrant,
  datasetList,
  datasetRowsShow,
  datasetShow,
  describeDatasetDeprecate,
  describeDatasetGrant,
  describeDatasetList,
  describeDatasetRows,
  describeDatasetShow,
} from './datasets.ts'
import { datasetPush, describeDatasetPush } from './push.ts'
import { pathOfVersion } from './reference.ts'

/** `forge dataset …`: data to train on, in versions. */
export function addDatasets(program: Command, world: World, ended: (code: number) => void): void {
  const dataset = program.command('dataset').description('datasets: files of rows, in versions')
  speakingIn(
    dataset,
    world,
    ended,
  )({
    ls: [describeDatasetList, datasetList],
    show: [describeDatasetShow, datasetShow],
    rows: [describeDatasetRows, datasetRowsShow],
    check: [describeDatasetCheck, datasetCheck],
    push: [describeDatasetPush, datasetPush],
    grant: [describeDatasetGrant, datasetGrant],
    deprecate: [describeDatasetDeprecate, datasetDeprecate],
    rm: [versionRemoval('OWNER/NAME@N'), removeVersion(pathOfVersion)],
  })
}
