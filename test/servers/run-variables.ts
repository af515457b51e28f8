/** The folder of a test run, and the process with which its servers end: of `npm test`, or of ava where that runs alone. */
export const runVariables = { folder: 'FORGE_TEST_RUN', pid: 'FORGE_TEST_RUN_PID' } as const
