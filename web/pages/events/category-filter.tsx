import { useNavigate } from '@tanstack/react-router';
import { CATEGORIES, type Category, categoryOf } from './category.ts';

export function CategoryFilter({ chosen }: { chosen: Category | undefined }) {
  const navigate = useNavigate();
  return (
    <label className="flex items-center gap-2 text-muted">
      Category
      <select
        className="field w-auto text-text"
        value={chosen ?? ''}
        onChange={({ target }) => {
          const category = categoryOf(target.value);
          void navigate({ to: '/activity', search: category ? { category } : {} });
        }}
      >
        <option value="">All</option>
        {CATEGORIES.map(([category, label]) => (
          <option key={category} value={category}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}
