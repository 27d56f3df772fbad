//! The tables: the meaning of members, in payloads and inside result bodies, and the shapes of kept values.
//!
//! A name that is not listed has no meaning, and a listed value of another shape is not kept: an agent that
//! starts to send something new is measured, not recorded.

mod keys;
mod parts;
mod shapes;

pub(crate) use keys::{Key, key};
pub(crate) use parts::{BodyMember, ROOT, part, place};
pub(crate) use shapes::{
    is_absolute_path, is_error_word, is_id, is_label, is_member_name, is_model, is_path, is_state,
    is_task_name, is_uuid, is_word, is_worktree_branch,
};

#[cfg(test)]
fn assert_each_once<'a>(names: impl Iterator<Item = &'a [u8]>) {
    let mut names: Vec<&[u8]> = names.collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
}
