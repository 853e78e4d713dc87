export { type Limits, reviewLimits } from './store.ts';
