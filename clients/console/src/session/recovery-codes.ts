import { createStore } from './store.ts'

/**
 * New recovery codes until the person has kept them. Outside the component that shows them: the server shows them once, and the page
 * around it changes as soon as the second factor is set up.
 */
export const newRecoveryCodes = createStore<readonly string[] | null>(null)
