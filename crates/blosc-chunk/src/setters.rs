//! One chained setter for each field of an option struct.

/// Declares an option struct, and for each public field a method of the same name that sets it.
///
/// Fields after a lone `;` have no setter: their methods are written by hand.
///
/// ```
/// blosc_chunk::setters! {
///     /// How to read.
///     #[derive(Debug, Default)]
///     #[non_exhaustive]
///     pub struct ReadOptions {
///         /// Threads that decode.
///         pub threads: usize,
///         /// Bytes of memory.
///         pub max_memory: u64,
///         ;
///         /// Has no setter.
///         pub names: Vec<String>,
///     }
/// }
///
/// let options = ReadOptions::default().threads(2).max_memory(1 << 20);
/// assert_eq!((options.threads, options.max_memory), (2, 1 << 20));
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! setters {
    (
        $(#[$attribute:meta])*
        $vis:vis struct $Options:ident {
            $( $(#[$doc:meta])* pub $field:ident: $Type:ty ),+ $(,)?
            $( ; $( $(#[$other_doc:meta])* $other_vis:vis $other:ident: $Other:ty ),+ $(,)? )?
        }
    ) => {
        $(#[$attribute])*
        $vis struct $Options {
            $( $(#[$doc])* pub $field: $Type, )+
            $( $( $(#[$other_doc])* $other_vis $other: $Other, )+ )?
        }

        /// One method for each field, to be chained.
        impl $Options {
            $(
                #[doc = concat!(
                    "Sets [`", stringify!($field), "`](Self#structfield.", stringify!($field), ")."
                )]
                #[must_use]
                pub fn $field(self, $field: $Type) -> Self {
                    Self { $field, ..self }
                }
            )+
        }
    };
}
