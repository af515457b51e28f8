/**
 * Deadlines of tests are for a machine with nothing else to do. In continuous integration the machine is shared, and a wait
 * that times out too early says nothing about Forge.
 */
const slower = process.env.CI === 'true' ? 4 : 1

/** A deadline in milliseconds, as long as it has to be here. */
export const patient = (ms: number): number => ms * slower
