/** The folder of a test run, and the process with which its servers end: `npm test`, or ava if it runs alone. */
export const runVariables = { folder: 'FORGE_TEST_RUN', pid: 'FORGE_TEST_RUN_PID' } as const
