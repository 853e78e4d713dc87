export { feedbackOf } from './store.ts';
