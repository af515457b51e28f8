/**
 * The folder of a test run; the process with which its servers end: `npm test`, or ava if it runs alone; and the slice
 * of `--slice`.
 */
export const runVariables = {
  folder: 'FORGE_TEST_RUN',
  pid: 'FORGE_TEST_RUN_PID',
  slice: 'FORGE_TEST_SLICE',
} as const
