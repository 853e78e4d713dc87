export { TextArea as Words } from './field.tsx';
