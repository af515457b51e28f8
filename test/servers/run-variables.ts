/**
 * The folder of a test run; the process with which its servers end: `npm test`, or ava if it runs alone; the slice
 * of `--slice`; and the file that starts servers in their own processes, if it is not `main.ts`.
 */
export const runVariables = {
  folder: 'FORGE_TEST_RUN',
  pid: 'FORGE_TEST_RUN_PID',
  slice: 'FORGE_TEST_SLICE',
  server: 'FORGE_TEST_SERVER',
} as const
